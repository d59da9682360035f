// The last line of an upload that is not done, where no session was opened: it is exact, and the command in it finishes.

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

import { analysisLine, commandLine, forgetLine } from '../../../src/cli/views/how-to-go-on.ts'
import type { SharedOptions } from '../../../src/cli/options/options.ts'
import type { Fault } from '../../helpers/independent-records.ts'
import { startIndependentService, type IndependentService } from '../../helpers/independent-service.ts'
import { CAPTURE, installCli, jsonLines, lastLine, VIDEO, type CliEnd, type CliUnderTest } from '../cli-under-test.ts'

let cli: CliUnderTest
let service: IndependentService

beforeAll(async () => {
  cli = await installCli()
  for (const name of ['swing.mp4', 'take.action']) await writeFile(join(cli.folder, name), randomBytes(1000))
})
afterAll(() => cli.remove())

const env = (): Record<string, string> => ({ MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey })
const run = (stateDir: string, ...args: string[]): Promise<CliEnd> =>
  cli.run(args, { ...env(), MOCAP_STATE_DIR: join(cli.folder, stateDir) })

/** Uploads, does what the last line says in a shell that knows nothing but the key, and counts what is then stored and known. */
async function uploadAndFinish(stateDir: string, faults: readonly Fault[]) {
  service = await startIndependentService({ faults })
  const first = await run(stateDir, 'video', 'swing.mp4', ...VIDEO)
  const [, told = ''] = /: mocap-uplink (.*)\n$/.exec(first.stderr) ?? []
  const second = await cli.run(told.split(' '), { MOCAP_API_KEY: service.apiKey })
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
      /\nMissing: 1 of 1 file, 1000 B\. To finish: mocap-uplink resume video-\S+ --state-dir /,
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

  it('to which a session has all names already is not to be resumed, but left at that', async () => {
    service = await startIndependentService()
    const first = await run('taken', 'capture', 'take.action', ...CAPTURE, '--json')
    const { sessionId } = lastLine(first.stdout)
    const known = ['--mocap-type', '2', '--session', String(sessionId)]
    const second = await run('taken', 'capture', 'take.action', ...known)
    const [, told = ''] = /: mocap-uplink (.*)\n$/.exec(second.stderr) ?? []
    const third = await cli.run(told.split(' '), { MOCAP_API_KEY: service.apiKey })

    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(/ --reprocess sends it once more\.\nMissing: .* A resume would be refused as well\. /)
    expect([told.split(' ')[0], third.code]).toEqual(['cancel', 0])
  })

  it('whose record could not be begun is to be begun again, and nothing speaks of a session', async () => {
    service = await startIndependentService()

    const { code, stderr } = await run('swing.mp4/inside-a-file', 'video', 'swing.mp4', ...VIDEO)

    expect(code).toBe(1)
    expect(stderr).toMatch(/\nMissing: everything\. Nothing was begun: run the command again when this is fixed\.\n$/)
    expect(service.requestsOf('create')).toEqual([])
  })
})

describe('the command', () => {
  const SENDING: SharedOptions = {
    ...{ concurrency: '8', limitRate: '08:00,512KB 23:00,off', retries: '3', giveUpAfter: '2d', partSize: '8MiB' },
    ...{ background: true, receipt: 'r.json' },
    verify: 'off',
  }

  it('that resumes sends in the way that was asked for', () => {
    expect(commandLine('resume', 'video-1', SENDING, {})).toBe(
      `mocap-uplink resume video-1 --verify off --concurrency 8 --limit-rate '08:00,512KB 23:00,off' --retries 3 ` +
        `--give-up-after 2d --receipt ${resolve('r.json')} --background`,
    )
    expect(commandLine('cancel', 'video-1', SENDING, {})).toBe('mocap-uplink cancel video-1')
  })

  it('says nothing of what is usual', () => {
    const usual = { verify: 'md5', concurrency: 'auto', bearerHeader: 'Authorization' } as const

    expect(commandLine('resume', 'video-1', usual, { HOME: '/home/u' })).toBe('mocap-uplink resume video-1')
  })

  it('says again what the environment said, but for credentials, and what was given goes before it', () => {
    const env = { MOCAP_STATE_DIR: '/s p', MOCAP_BASE_URL: ' https://a.test ', MOCAP_API_KEY: 'secret' }

    expect(commandLine('cancel', 'k', {}, env)).toBe(
      `mocap-uplink cancel k --state-dir '/s p' --base-url https://a.test`,
    )
    expect(commandLine('cancel', 'k', { stateDir: '/t', baseUrl: 'https://b.test' }, env)).toBe(
      'mocap-uplink cancel k --state-dir /t --base-url https://b.test',
    )
    expect(commandLine('cancel', 'k', {}, { MOCAP_STATE_DIR: '', MOCAP_BASE_URL: '' })).toBe('mocap-uplink cancel k')
  })

  it('about an analysis gives the id of the service as one word, whatever stands in it', () => {
    const way = { baseUrl: 'https://a.test', apiKeyFile: '/k', allowHttp: true }

    expect(analysisLine(['watch', '7; rm -r $HOME'], way, {})).toBe(
      `mocap-uplink analysis watch '7; rm -r $HOME' --base-url https://a.test --api-key-file /k --allow-http`,
    )
    expect(analysisLine(['watch', 7], {}, {})).toBe('mocap-uplink analysis watch 7')
    expect(analysisLine(['list'], {}, {})).toBe('mocap-uplink analysis list')
  })

  it('goes by npx where it was called so', () => {
    const env = { npm_command: 'exec', npm_lifecycle_event: 'npx' }

    expect(commandLine('resume', 'k', {}, env)).toBe('npx mocap-uplink resume k')
    expect(commandLine('resume', 'k', {}, { npm_lifecycle_event: 'nightly' })).toBe('mocap-uplink resume k')
    expect(forgetLine('k', {}, env)).toBe('npx mocap-uplink sessions --forget k')
  })

  it('can be pasted where the folder has a name that no line shows: its bytes are in the command', () => {
    expect(commandLine('cancel', 'k', { stateDir: "/a\nb'\\\u202ec é" }, {})).toBe(
      String.raw`mocap-uplink cancel k --state-dir $'/a\x0ab\'\\\xe2\x80\xaec é'`,
    )
  })

  it.skipIf(process.platform !== 'linux')('says where the sessions are when XDG_STATE_HOME put them there', () => {
    expect(commandLine('cancel', 'k', {}, { XDG_STATE_HOME: '/x' })).toBe(
      'mocap-uplink cancel k --state-dir /x/mocap-uplink',
    )
  })
})
