// The last line of an upload that is not done, where no session was opened: it is exact, and the command in it finishes.

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'

import { sayHowToGoOn } from '../../../src/cli/views/how-to-go-on.ts'
import type { Output } from '../../../src/cli/views/output.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import type { Fault } from '../../helpers/independent-records.ts'
import { startIndependentService, type IndependentService } from '../../helpers/independent-service.ts'
import { CAPTURE, installCli, jsonLines, lastLine, VIDEO, type CliEnd, type CliUnderTest } from '../cli-under-test.ts'

let cli: CliUnderTest
let service: IndependentService

beforeAll(async () => {
  cli = await installCli()
  for (const name of ['swing.mp4', 'take.action', 'other.action'])
    await writeFile(join(cli.folder, name), randomBytes(1000))
})
afterAll(() => cli.remove())

const env = (): Record<string, string> => ({ MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey })
const run = (stateDir: string, ...args: string[]): Promise<CliEnd> =>
  cli.run(args, { ...env(), MOCAP_STATE_DIR: join(cli.folder, stateDir) })

/** Runs the command in the last line of stderr, in a shell that knows nothing but the key. */
async function asTold({ stderr }: CliEnd) {
  const [, told = ''] = /: mocap-uplink (.*)\n$/.exec(stderr) ?? []
  return { told, ...(await cli.run(told.split(' '), { MOCAP_API_KEY: service.apiKey })) }
}

/** Uploads, does what the last line says in a shell that knows nothing but the key, and counts what is then stored and known. */
async function uploadAndFinish(stateDir: string, faults: readonly Fault[]) {
  service = await startIndependentService({ faults })
  const first = await run(stateDir, 'video', 'swing.mp4', ...VIDEO)
  const { told, ...second } = await asTold(first)
  const listed = await run(stateDir, 'sessions', '--json')
  const sessions = jsonLines(listed.stdout).filter(({ event }) => event === 'session')
  return { first, told, second, sessions, confirmed: service.storedFiles().filter(({ isConfirmed }) => isConfirmed) }
}

describe('an upload without a session', () => {
  afterEach(() => service.close())

  it('whose create had no answer says so, and is finished by the command in its last line', async () => {
    // Nor has the question whether the service is back.
    const questions = [1, 2].map((nth): Fault => ({ operation: 'listAnalyses', nth, action: 'loseReply' }))
    const lost: readonly Fault[] = [{ operation: 'create', nth: 1, action: 'loseReply' }, ...questions]
    const { first, told, second, sessions, confirmed } = await uploadAndFinish('lost', lost)

    expect(first.code).toBe(1)
    expect(first.stderr).toContain('warning: a create had no clear answer')
    const place = `--state-dir ${join(cli.folder, 'lost')} --base-url ${service.url}`
    expect(first.stderr).toMatch(
      /\nMissing: 1 of 1 file, 1000 B\. To finish, with another --base-url if this one is wrong: mocap-uplink resume video-\S+ --state-dir /,
    )
    expect(first.stderr.endsWith(` ${place}\n`)).toBe(true)
    expect(first.stderr).not.toContain(service.apiKey)
    expect([told.split(' ')[0], second.code]).toEqual(['resume', 0])
    expect(confirmed).toHaveLength(1)
    // So that a `resume` of everything on another day sends nothing for a second time.
    expect(sessions).toMatchObject([{ status: 'confirmed' }])
  })

  it('at an address where nobody has ever answered is finished with the right one, which the command leaves to be given', async () => {
    service = await startIndependentService()
    await service.close()
    const { code, stderr } = await run('misspelt', 'video', 'swing.mp4', ...VIDEO)

    expect(code).toBe(1)
    const place = `--state-dir ${join(cli.folder, 'misspelt')}`
    expect(stderr).toMatch(/\nMissing: 1 of 1 file, 1000 B\. To finish, with the right address for URL: mocap-uplink /)
    expect(stderr.endsWith(` ${place} --base-url URL\n`)).toBe(true)
    service = await startIndependentService()
  })

  it('that the service refused is to be asked for anew, and the try is forgotten by the command in its last line', async () => {
    const no: Fault = { operation: 'create', nth: 1, action: { status: 422, body: '{"error":"no such player"}' } }
    const { first, told, second, sessions } = await uploadAndFinish('refused', [no])

    expect(first.code).toBe(1)
    expect(first.stderr).not.toContain('warning')
    expect(first.stderr).toMatch(/\nMissing: 1 of 1 file, 1000 B\. Nothing was begun: correct the command and give it/)
    expect([told.split(' ')[0], second.code]).toEqual(['cancel', 0])
    expect(sessions).toMatchObject([{ status: 'cancelled' }])
    expect((await run('refused', 'sessions', '--prune')).stdout).toMatch(/^removed 1 finished session, 0 others kept/)
  })

  it('to which a session that was there before has all names is not to be resumed, but left at that', async () => {
    service = await startIndependentService()
    const first = await run('taken', 'capture', 'take.action', ...CAPTURE, '--json')
    const { sessionId } = lastLine(first.stdout)
    const known = ['--mocap-type', '2', '--session', String(sessionId)]
    const second = await run('taken', 'capture', 'take.action', ...known)
    const resumed = await run('taken', 'resume')
    const third = await asTold(resumed)

    expect(second.code).toBe(1)
    const isLeft =
      / --reprocess sends it once more\.\nMissing: .* A resume would be refused as well\.\nTo leave it at that: .*\n$/
    expect([second.stderr, resumed.stderr]).toEqual([expect.stringMatching(isLeft), expect.stringMatching(isLeft)])
    expect([third.told.split(' ')[0], third.code]).toEqual(['cancel', 0])
  })

  it('whose own session has all names, since a line delivered the call twice, is finished by a resume', async () => {
    const taken: Fault = { operation: 'register', nth: 1, action: { status: 409, body: '{"error":"exists"}' } }
    service = await startIndependentService({ faults: [taken] })
    const first = await run('twice', 'capture', 'take.action', ...CAPTURE)
    const second = await asTold(first)

    expect(first.code).toBe(1)
    expect(first.stderr).toMatch(/\nMissing: 1 of 1 file, 1000 B\. To finish: mocap-uplink resume .*\n$/)
    expect([second.told.split(' ')[0], second.code]).toEqual(['resume', 0])
  })

  it('whose names are refused by their form is to be given corrected, into the same session', async () => {
    const no: Fault = { operation: 'register', nth: 'every', action: { status: 422, body: '{"error":"no such kind"}' } }
    service = await startIndependentService({ faults: [no] })
    const { code, stderr } = await run('form', 'capture', 'take.action', ...CAPTURE)

    expect(code).toBe(1)
    expect(stderr).toMatch(
      / 1000 B\. The service would refuse a resume as well: correct what it names, and .* --session \S+ into/,
    )
    expect(stderr).toMatch(
      /\nIf the service is corrected instead: mocap-uplink resume .*\nTo leave it at that: mocap-uplink cancel /,
    )
  })

  it.each([
    ['some', 'own', [1, 3]],
    ['all', 'all', 'every'],
  ] as const)(
    'of which the service does not find %s names knows its session all the same',
    async (_, stateDir, nths) => {
      // The first call has both names, and each has one of its own after that.
      const action = { status: 404, body: '{"error":"no such kind"}' } as const
      const faults = [nths].flat().map((nth): Fault => ({ operation: 'register', nth, action }))
      service = await startIndependentService({ faults })
      const { code, stderr } = await run(stateDir, 'capture', 'take.action', 'other.action', ...CAPTURE)

      expect(code).toBe(nths === 'every' ? 1 : 3)
      expect(stderr).toMatch(/\nMissing: .* The service would refuse a resume as well: correct what it names, and /)
      expect(stderr).not.toMatch(/is not known there/)
    },
  )

  it('of a session that is given and that the service does not know says so', async () => {
    const faults: Fault[] = [{ operation: 'register', nth: 'every', action: { status: 404, body: '{"error":"gone"}' } }]
    service = await startIndependentService({ faults })
    const { stderr } = await run('given', 'capture', 'take.action', '--mocap-type', '2', '--session', '77')

    expect(stderr).toMatch(/\nMissing: .* Session 77, or what these names stand for, is not known there: /)
  })

  it('into which a resume takes none of the names may be unknown, or they may: both are said, since nothing tells which', async () => {
    const faults: Fault[] = [{ operation: 'register', nth: 'every', action: { status: 404, body: '{"error":"gone"}' } }]
    service = await startIndependentService({ faults })
    const first = await run('either', 'capture', 'take.action', ...CAPTURE, '--json')
    const { sessionId } = lastLine(first.stdout)
    const { code, stderr } = await run('either', 'resume')

    expect(code).toBe(1)
    const [what, names, later, never] = stderr.split('\n').slice(1)
    expect(what).toMatch(
      new RegExp(`^Missing: .* Session ${String(sessionId)}, or what these names stand for, is not known there: `),
    )
    expect(what).toContain(
      ': the key or token may be of another organisation than that which began it, or the service ',
    )
    expect(names).toMatch(new RegExp(`^If it knows the session: correct .* with --session ${String(sessionId)} into`))
    expect(later).toMatch(/^Once it is known: mocap-uplink resume /)
    expect(never).toMatch(/^If it never is, upload .* as a new session, then: mocap-uplink cancel /)
  })

  it('whose record could not be begun is to be begun again, and nothing speaks of a session', async () => {
    service = await startIndependentService()

    const { code, stderr } = await run('swing.mp4/inside-a-file', 'video', 'swing.mp4', ...VIDEO)

    expect(code).toBe(1)
    expect(stderr).toMatch(/\nMissing: everything\. Nothing was begun: run the command again when this is fixed\.\n$/)
    expect(service.requestsOf('create')).toEqual([])
  })
})

describe('an upload that is not done', () => {
  const refused = { code: 'ERR_UPLOAD_SERVICE_REFUSED', message: 'no', file: 'take.action', status: 409 } as const
  const files = [{ fileIndex: 0, name: 'take.action', sizeBytes: 1, partCount: 1, partSizeBytes: 1 }]
  const what = { version: 1, key: 'k', flow: 'capture', params: {}, files, locations: ['/take.action'] } as const
  const begun: readonly JournalRecord[] = [{ at: 1, type: 'session.begun', ...what }]

  it.each([
    [
      'whose record cannot be read',
      'failed',
      { status: 'failed', error: refused },
      new Error('no disk'),
      '1 of 1 file, 1 B.',
    ],
    // Stopped between the last confirmation and the end.
    [
      'of which no name is refused',
      'interrupted',
      { status: 'confirmed' },
      begun,
      '0 of 1 file, of which nothing is left to send.',
    ],
  ] as const)('%s is left to a resume, which is not said to be refused', async (_, status, how, records, missing) => {
    const file = { name: 'take.action', bytes: 1, parts: 1, verified: false, ...how } as const
    const confirmedBytes = how.status === 'confirmed' ? 1 : 0
    const result = { flow: 'capture', status, key: 'k', sessionId: 7, bytes: 1, confirmedBytes, durationMs: 1 } as const
    const complain = vi.fn<(text: string) => void>()
    const read = () => (records instanceof Error ? Promise.reject(records) : Promise.resolve(records))

    const at = { options: {}, env: {}, journal: { read } }
    await sayHowToGoOn({ complain } as unknown as Output, { ...result, files: [file] }, at)

    expect(complain).toHaveBeenNthCalledWith(1, `Missing: ${missing} To finish: mocap-uplink resume k`)
  })
})
