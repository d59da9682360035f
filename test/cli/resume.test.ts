// Sessions that outlive their process: listed, finished and given up by other processes, after a signal, a SIGKILL or a
// refusal. What is sent again is counted at the service.

import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { diskJournal } from '../../src/node.ts'
import type { Fault } from '../helpers/independent-records.ts'
import { startIndependentService } from '../helpers/independent-service.ts'
import type { IndependentService } from '../helpers/independent-service.ts'
import { installCli, CAPTURE, jsonLines, lastLine, VIDEO } from './cli-under-test.ts'
import type { CliEnd, CliProcess, CliUnderTest, JsonLine } from './cli-under-test.ts'

const MIB = 1024 * 1024
/** The third part of big.mp4 is stored, and nobody says so, the first time. */
const SILENT_THIRD: Fault = {
  ...{ operation: 'put', nth: 1, fileName: 'big.mp4', partNumber: 3, action: { delayMs: 600_000 } },
}

/** When big.mp4 was written. A time of whole seconds can be set again exactly: a Date keeps no part of a millisecond. */
const WRITTEN_AT = 1_000_000_000

let cli: CliUnderTest
let service: IndependentService
let stateDir: string
const big = randomBytes(12 * MIB)

beforeAll(async () => {
  cli = await installCli()
  await writeFile(join(cli.folder, 'small.mp4'), 'content')
  await writeFile(join(cli.folder, 'big.mp4'), big)
  await utimes(join(cli.folder, 'big.mp4'), WRITTEN_AT, WRITTEN_AT)
  for (const name of ['take-1.action', 'take-2.action']) await writeFile(join(cli.folder, name), name)
})
afterAll(() => cli.remove())
beforeEach(async () => {
  stateDir = join(await mkdtemp(join(cli.folder, 'state-')), 'sessions')
})
afterEach(() => service.close())

function environment(more: Record<string, string> = {}): Record<string, string> {
  return { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey, MOCAP_STATE_DIR: stateDir, ...more }
}

const run = (...args: string[]): Promise<CliEnd> => cli.run(args, environment())

async function sessions(): Promise<JsonLine[]> {
  const { stdout } = await run('sessions', '--json')
  return jsonLines(stdout).filter(({ event }) => event === 'session')
}

interface Interrupted {
  readonly upload: CliProcess
  readonly key: string
}

/** An upload of small.mp4 and big.mp4 that has everything but the third part, and waits. */
async function waitingUpload(...faults: Fault[]): Promise<Interrupted> {
  service = await startIndependentService({ faults: [SILENT_THIRD, ...faults] })
  const upload = cli.start(['video', 'small.mp4', 'big.mp4', ...VIDEO, '--json'], environment())
  // Another process may look at a session that is being driven.
  const found = [{ status: 'open', filesConfirmed: 1, confirmedBytes: 10 * MIB + 7 }]
  await expect.poll(sessions).toMatchObject(found)
  const [session] = await sessions()
  return { upload, key: String(session?.['key']) }
}

async function killedUpload(...faults: Fault[]): Promise<string> {
  const { upload, key } = await waitingUpload(...faults)
  upload.process.kill('SIGKILL')
  await upload.ended
  return key
}

function putsOf(fileName: string): (number | undefined)[] {
  return service
    .requestsOf('put')
    .filter((put) => put.fileName === fileName)
    .map((put) => put.partNumber)
    .sort()
}

describe('an upload that was interrupted', () => {
  it('goes on with files that were moved meanwhile when it is told where, and says how to tell it', async () => {
    const key = await killedUpload()
    const files = ['small.mp4', 'big.mp4']
    const moved = await mkdtemp(join(cli.folder, 'moved-'))
    for (const name of files) await rename(join(cli.folder, name), join(moved, name))
    try {
      const without = await run('resume', key)
      const nowhere = await run('resume', key, '--files-in', join(moved, 'none'))
      const elsewhere = await run('resume', key, '--files-in', stateDir, '--dry-run')
      const dry = await run('resume', key, '--files-in', moved, '--dry-run', '--json')
      const { code, stderr } = await run('resume', key, '--files-in', moved)

      expect(without).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(
          'To finish (with --files-in FOLDER where files were moved): mocap-uplink',
        ) as string,
      })
      expect(nowhere.code).toBe(2)
      const was = join(cli.folder, 'big.mp4')
      expect(elsewhere).toMatchObject({ code: 0, stderr: '' })
      expect(elsewhere.stdout).toContain(`${was}: not found: no file below "${stateDir}" has its name, size and time\n`)
      expect(elsewhere.stdout).toContain(`${key}: 1 of 2 files and 2 MiB are missing; of these files 1 not found\n`)
      expect(lastLine(dry.stdout)).toMatchObject({
        ...{ event: 'plan', flow: 'resume' },
        sessions: [{ key, files: [{ name: 'big.mp4', location: was, path: join(moved, 'big.mp4') }] }],
      })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(putsOf('big.mp4')).toEqual([1, 2, 3, 3])
      expect(service.storedFiles().every(({ isConfirmed }) => isConfirmed)).toBe(true)
    } finally {
      for (const name of files) await rename(join(moved, name), join(cli.folder, name))
    }
  })

  it('confirms a file that is gone, where all of it is stored, and misses it only where it is to be read whole', async () => {
    service = await startIndependentService({ faults: [{ operation: 'confirm', nth: 1, action: { status: 401 } }] })
    const card = join(cli.folder, 'card.mp4')
    await writeFile(card, 'content')
    const first = await run('video', 'card.mp4', ...VIDEO)
    await rm(card)

    const dry = await run('resume', '--dry-run')
    const whole = await run('resume', '--dry-run', '--verify', 'full')
    const { code, stdout } = await run('resume')

    expect(first.code).toBe(4)
    expect(dry.stdout).toMatch(/^dry run: video-\S+: 1 of 1 file and 0 B are missing\n/)
    expect(whole.stdout).toContain(': 1 of 1 file and 0 B are missing; 1 not found, see --files-in\n')
    expect({ code, stdout }).toMatchObject({
      ...{ code: 0, stdout: expect.stringContaining('1 of 1 file confirmed, 1 verified') as string },
    })
  })

  it('counts in a dry run no receipt of a file that has changed since, and says which files are not as they were', async () => {
    const key = await killedUpload()
    const path = join(cli.folder, 'big.mp4')
    try {
      await utimes(path, WRITTEN_AT, WRITTEN_AT + 60)
      const changed = await run('resume', '--dry-run')
      const json = await run('resume', key, '--dry-run', '--json')
      await rename(path, `${path}.away`)
      const gone = await run('resume', key, '--dry-run')

      expect(changed.stdout).toMatch(
        new RegExp(`^${path}: it has changed: it was last written at .* and now says .*\n`),
      )
      expect(changed.stdout).toContain(
        `${key}: 1 of 2 files and 12 MiB are missing; 1 changed, to be uploaded as a new session\n`,
      )
      expect(lastLine(json.stdout)).toMatchObject({
        sessions: [{ confirmedBytes: 7, files: [{ name: 'big.mp4', location: path, isChanged: true }] }],
      })
      expect(gone.stdout).toMatch(new RegExp(`^${path}: not found: it cannot be read: there is nothing at this path`))
      expect(gone.stdout).toContain(`${key}: 1 of 2 files and 2 MiB are missing; 1 not found, see --files-in\n`)
    } finally {
      await rename(`${path}.away`, path).catch(() => undefined)
      await utimes(path, WRITTEN_AT, WRITTEN_AT)
    }
  })

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'by %s is finished, and no part with a receipt is sent again',
    async (signal) => {
      const { upload, key } = await waitingUpload()

      upload.process.kill(signal)
      const first = await upload.ended
      const told = /To finish: mocap-uplink (.*)\n/.exec(first.stderr)?.[1]
      const { code, stdout, stderr } = await run(...(told ?? `resume ${key}`).split(' '), '--json')

      const place = `--state-dir ${stateDir} --base-url ${service.url}`
      expect(told).toBe(signal === 'SIGINT' ? `resume ${key} ${place}` : undefined)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(jsonLines(stdout)[0]).toMatchObject({ event: 'start', flow: 'video', key, confirmedBytes: 10 * MIB + 7 })
      expect(lastLine(stdout)).toMatchObject({
        ...{ event: 'result', flow: 'video', status: 'confirmed', key, bytes: 12 * MIB + 7 },
        sessionId: service.storedFiles()[0]?.sessionId,
        files: [
          { name: 'small.mp4', status: 'confirmed', verified: true },
          { name: 'big.mp4', status: 'confirmed', verified: true },
        ],
      })
      expect(putsOf('small.mp4')).toEqual([1])
      expect(putsOf('big.mp4')).toEqual([1, 2, 3, 3])
      expect(service.requestsOf('create')).toHaveLength(1)
      expect(service.requestsOf('confirm')).toHaveLength(2)
      expect(service.storedFiles()).toMatchObject([
        { fileName: 'small.mp4', isConfirmed: true },
        { fileName: 'big.mp4', isConfirmed: true, sha256: createHash('sha256').update(big).digest('hex') },
      ])
    },
  )

  it('keeps a folder that is its owner’s alone, and no credential in it', async () => {
    await killedUpload()

    const entries = await readdir(stateDir, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
    const modes = async (paths: string[]) =>
      new Set(await Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o777)))

    expect(files.length).toBeGreaterThanOrEqual(2)
    expect(await modes([stateDir, ...folders])).toEqual(new Set([0o700]))
    expect(await modes(files)).toEqual(new Set([0o600]))
    for (const file of files) expect(await readFile(file, 'utf8')).not.toContain(service.apiKey)
  })

  it('stops the file alone whose bytes changed, although size and time did not', async () => {
    const key = await killedUpload()
    const path = join(cli.folder, 'big.mp4')
    await writeFile(path, randomBytes(12 * MIB))
    await utimes(path, WRITTEN_AT, WRITTEN_AT)

    const { code, stdout, stderr } = await run('resume', key, '--json')
    await writeFile(path, big)
    await utimes(path, WRITTEN_AT, WRITTEN_AT)

    // Told by its bytes, and not by its time.
    const changedPart = expect.stringMatching(/Part [12] of big\.mp4 is no longer what was sent/) as string
    expect(code).toBe(3)
    expect(lastLine(stdout)).toMatchObject({
      status: 'partial',
      files: [
        { name: 'small.mp4', status: 'confirmed' },
        { name: 'big.mp4', status: 'failed', error: { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: changedPart } },
      ],
    })
    expect(stderr).toMatch(/\nMissing: 1 of 2 files, 12 MiB\. Upload the file that changed as a new session\.\n$/)
    expect(putsOf('big.mp4')).toEqual([1, 2, 3])
  })

  it('whose third part the storage would not take counts as missing only what is still to be sent', async () => {
    const no: Fault = {
      ...{ operation: 'put', nth: 'every', fileName: 'big.mp4', partNumber: 3, action: { status: 400 } },
    }
    service = await startIndependentService({ faults: [no] })

    const { code, stdout, stderr } = await run('video', 'big.mp4', 'small.mp4', ...VIDEO, '--concurrency', '1')
    const dry = await run('resume', '--dry-run')
    const again = await run('resume', '--json')

    expect(code).toBe(3)
    expect(stdout).toMatch(/\npartial: 1 of 2 files confirmed, [^\n]*, 10 MiB of 12 MiB stored, session \S+\n$/)
    expect(stderr).toMatch(/\nMissing: 1 of 2 files, 2 MiB\. To finish: mocap-uplink resume /)
    expect(dry.stdout).toContain(': 1 of 2 files and 2 MiB are missing\n')
    expect(lastLine(again.stdout)).toMatchObject({ status: 'partial', confirmedBytes: 10 * MIB + 7 })
    expect(new Set(putsOf('big.mp4'))).toEqual(new Set([1, 2, 3]))
    expect(putsOf('big.mp4').filter((part) => part !== 3)).toEqual([1, 2])
  })

  it('whose confirmation is all that is missing says that nothing is left to send', async () => {
    const no: Fault = { operation: 'confirm', nth: 'every', action: { status: 401 } }
    service = await startIndependentService({ faults: [no] })

    const { stderr } = await run('video', 'small.mp4', ...VIDEO)

    expect(stderr).toMatch(/\nMissing: 1 of 1 file, of which nothing is left to send\. To finish: mocap-uplink resume /)
  })

  it('is driven by one process only, and by the next one when that is gone', async () => {
    const { upload, key } = await waitingUpload()

    const second = await run('resume', key, '--json')
    const cancel = await run('cancel', key)
    upload.process.kill('SIGKILL')
    await upload.ended
    const third = await run('resume', key)

    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(new RegExp(`cannot be opened: process ${upload.process.pid ?? 0} is working on it`))
    expect(lastLine(second.stdout)).toMatchObject({ flow: 'video', key, error: { code: 'ERR_UPLOAD_JOURNAL' } })
    expect(cancel.code).toBe(1)
    expect(third.code).toBe(0)
    expect(third.stdout).toMatch(/^10 MiB of 12 MiB are there already\n/)
    expect(service.records.cancelledSessionIds).toEqual([])
  })

  it('that failed for its credentials is finished with the right ones', async () => {
    service = await startIndependentService()
    const refused = await cli.run(['video', 'small.mp4', ...VIDEO], environment({ MOCAP_API_KEY: 'wrong-key-81' }))
    const [session] = await sessions()

    const { code, stdout } = await run('resume', String(session?.['key']), '--verify', 'full')

    expect({ refused: refused.code, code }).toEqual({ refused: 4, code: 0 })
    expect(stdout).toMatch(/\nconfirmed: 1 of 1 file confirmed, 1 verified/)
  })
})

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
if (!hasScript) console.warn('Skipped: the question of cancel on a terminal, which needs script of util-linux.')

describe.skipIf(!hasScript)('cancel on a terminal', () => {
  /** Types each text when the question is there. */
  async function cancelOnTerminal(key: string, typed: string, ...options: string[]) {
    const command = ['exec', process.execPath, cli.entry, 'cancel', key, ...options].join(' ')
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: environment({ SHELL: '/bin/sh' }) })
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const wasAsked = shown.includes('[y/N]')
      shown += text
      if (!wasAsked && shown.includes('[y/N]')) child.stdin.write(typed)
    })
    const code = await new Promise<number | null>((resolve) => void child.once('close', resolve))
    return { code, shown }
  }

  it('asks before a confirmed file is given up, and takes no, Ctrl-C and the end of the input for no', async () => {
    const key = await killedUpload()
    const ends = []
    for (const typed of ['\n', 'n\n', '\u0003', '\u0004']) ends.push(await cancelOnTerminal(key, typed))

    expect(ends.map(({ code }) => code)).toEqual([1, 1, 130, 1])
    for (const { shown } of ends) expect(shown).toMatch(/1 of 2 files is confirmed, and would be given up too/)
    expect(await sessions()).toMatchObject([{ key, status: 'open', filesConfirmed: 1 }])
    expect(service.requestsOf('cancel')).toEqual([])
  })

  it('asks also where a confirmation was not answered, since it may have been a yes', async () => {
    service = await startIndependentService()
    const key = 'video-doubtful'
    const journal = await diskJournal({ folder: stateDir }).open(key)
    const plan = { name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
    const place = { serverFileId: 1, addresses: [`${service.storageUrl}/k`] }
    const params = { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 }
    const begun = { version: 1, key, flow: 'video', params, locations: ['/a', '/b'] } as const
    const files = [0, 1].map((fileIndex) => ({ ...plan, fileIndex }))
    const receipt = { acceptedEnd: 3, etag: '"e"', isVerified: false }
    await journal.append([
      { at: 1, type: 'session.begun', ...begun, files },
      {
        at: 2,
        type: 'session.created',
        sessionId: 's1',
        files: files.map(({ fileIndex }) => ({ ...place, fileIndex })),
      },
      { at: 3, type: 'part.received', fileIndex: 0, partNumber: 1, generation: 0, receipt },
      { at: 4, type: 'file.confirming', fileIndex: 0 },
    ])
    await journal.close()
    const { code, shown } = await cancelOnTerminal(key, 'n\n')

    expect(code).toBe(1)
    expect(shown.replaceAll(/\s+/g, ' ')).toMatch(
      /1 of 2 files may be confirmed, since no answer came, and would be given up too; with --keep-confirmed/,
    )
    expect(service.requestsOf('cancel')).toEqual([])
  })

  it('goes on after a yes', async () => {
    const key = await killedUpload()
    const { code, shown } = await cancelOnTerminal(key, 'y\n')

    expect(code).toBe(0)
    expect(shown.replaceAll(/\s+/g, ' ')).toMatch(/the service has ended session/)
  })

  it.each([['--yes'], ['--json'], ['--keep-confirmed'], ['--dry-run']])('asks nothing with %s', async (option) => {
    const { code, shown } = await cancelOnTerminal(await killedUpload(), '', option)

    expect(code).toBe(0)
    expect(shown).not.toContain('[y/N]')
  })
})

describe('cancel', () => {
  it('tells the service after a kill, once, and leaves nothing to resume', async () => {
    const key = await killedUpload()

    const cancel = await run('cancel', key, '--json')
    const again = await run('cancel', key)
    const resume = await run('resume', key)

    expect(cancel).toMatchObject({ code: 0, stderr: '' })
    expect(lastLine(cancel.stdout)).toMatchObject({ flow: 'video', status: 'cancelled', key, isServiceTold: true })
    expect(service.records.cancelledSessionIds).toHaveLength(1)
    expect(again).toMatchObject({ code: 0, stdout: `cancelled: ${key} was cancelled before\n` })
    expect(service.requestsOf('cancel')).toHaveLength(1)
    expect(resume.code).toBe(1)
    expect(resume.stderr).toMatch(/was cancelled and cannot be resumed/)
    expect(resume.stderr).not.toContain('To finish')
  })

  it('of what is confirmed as a whole is wrong use, also in a dry run, and keeps nothing from those who keep it', async () => {
    service = await startIndependentService()
    const upload = await run('video', 'small.mp4', ...VIDEO, '--json')
    const key = String(lastLine(upload.stdout)['key'])

    const cancels = [await run('cancel', key, '--yes'), await run('cancel', key, '--dry-run')]
    const asJson = await run('cancel', key, '--json')
    const kept = await run('cancel', key, '--keep-confirmed')

    const message = `${key} is confirmed as a whole, so there is nothing to give up. Its files stay with the service.`
    for (const cancel of cancels)
      expect(cancel).toEqual({ code: 2, stdout: '', stderr: `error: ${message} (ERR_UPLOAD_INVALID_ARGUMENT)\n` })
    expect(asJson.code).toBe(2)
    expect(lastLine(asJson.stdout)).toMatchObject({ flow: 'cancel', status: 'failed', error: { message } })
    expect(kept.code).toBe(0)
    expect(service.requestsOf('cancel')).toEqual([])
  })

  it('that the service did not hear of ends with 1 and the command that repeats it', async () => {
    const key = await killedUpload()

    const refused = await cli.run(['cancel', key], environment({ MOCAP_API_KEY: 'wrong-key-82' }))
    const listed = await run('sessions')
    const pruned = await run('sessions', '--prune')
    const again = /To tell it: mocap-uplink (.*)\n/.exec(refused.stderr)?.[1] ?? ''
    const told = await run(...again.split(' '))

    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^error: .* \(ERR_UPLOAD_CREDENTIALS_REFUSED\)\nThe service could not be told\. /)
    expect(listed.stdout).toMatch(new RegExp(`${key} +video +cancelled, service not told +1 of 2 +10 MiB of 12 MiB`))
    expect(pruned.stdout).toBe('removed 0 finished sessions, 1 other kept\n')
    expect(told.code).toBe(0)
    expect(service.records.cancelledSessionIds).toHaveLength(1)
  })

  it('that the service refuses is not called untold, says nothing of resuming, and can be forgotten', async () => {
    const key = await killedUpload({ operation: 'cancel', nth: 1, action: { status: 409 } })

    const { code, stderr } = await run('cancel', key)
    const forget = /\. To forget \w+(?: session)? on this machine: mocap-uplink (.*)\n/.exec(stderr)?.[1] ?? ''
    const forgotten = await run(...forget.split(' '))
    const listed = await run('sessions')

    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^error: .*\(409\).* \(ERR_UPLOAD_SERVICE_REFUSED\)\nThe service was told and refused\. To tell it once more: mocap-uplink cancel .*\n/,
    )
    expect(stderr).not.toMatch(/resume/)
    expect(forgotten).toMatchObject({ code: 0, stdout: `removed ${key}; no service was told\n` })
    expect(listed.stdout).toMatch(/^There is no session in /)
  })

  it('lets what is confirmed stay when asked to, and only then is it forgotten: what is not over is not', async () => {
    const key = await killedUpload()
    const begun = { version: 1, key: 'video-new', flow: 'video', params: {}, locations: [], files: [] } as const
    const session = await diskJournal({ folder: stateDir }).open('video-new')
    await session.append([{ at: 1, type: 'session.begun', ...begun }])
    await session.close()

    const refused = await run('sessions', '--forget', key, 'video-new')
    const dry = await run('cancel', key, '--keep-confirmed', '--dry-run')
    const cancelled = await run('cancel', key, '--keep-confirmed')
    const dryWhole = await run('cancel', key, '--dry-run')
    const forgotten = await run('sessions', '--forget', key)

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      new RegExp(
        `${key} is not over: cancel it first, so that the service is told; cancel --keep-confirmed lets 1 file stay`,
      ),
    )
    expect(dry.stdout).not.toContain('cancel of')
    expect(dryWhole.stdout).toContain('cancel of session')
    expect(cancelled).toMatchObject({ code: 0, stdout: `cancelled: ${key}; 1 file stays confirmed\n` })
    expect(forgotten).toMatchObject({
      code: 0,
      stdout: `removed ${key}; 1 file stays confirmed; no service was told\n`,
    })
    expect(service.requestsOf('cancel')).toEqual([])
    expect(service.storedFiles().filter(({ isConfirmed }) => isConfirmed)).toHaveLength(1)
  })

  it('of a journal without a beginning says how to forget it, and a dry run of all says so too', async () => {
    service = await startIndependentService()
    const folder = join(stateDir, 'session-video-torn')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, 'journal'), '')

    const listed = await run('sessions')
    const cancel = await run('cancel', 'video-torn')
    const receipt = await run('receipt', 'show', 'video-torn')
    const resumed = await run('resume', 'video-torn')
    const dry = await run('resume', '--dry-run')
    const forget = /\. To forget \w+(?: session)? on this machine: mocap-uplink (.*)\n/.exec(cancel.stderr)?.[1] ?? ''
    const forgotten = await run(...forget.split(' '), '--json')

    expect(listed.stderr).toMatch(/^warning: video-torn: The journal of this session has no beginning/)
    for (const { code, stderr } of [cancel, receipt, resumed]) {
      expect(code).toBe(1)
      expect(stderr).toContain('has no beginning; it cannot be resumed.')
      expect(stderr).not.toContain(folder)
    }
    expect(receipt.stderr).not.toMatch(/forget/)
    expect(resumed.stderr).toContain(`. To forget it on this machine: mocap-uplink ${forget}\n`)
    expect(dry.stdout).toMatch(/^dry run: video-torn: cannot be read\. The journal of this session has no beginning/)
    expect(forgotten.code).toBe(0)
    expect(lastLine(forgotten.stdout)).toMatchObject({ event: 'result', status: 'completed', sessions: 0, removed: 1 })
    expect((await readdir(stateDir)).filter((name) => name.startsWith('session-'))).toEqual([])
  })

  it('of a session that another process drives: it is not forgotten', async () => {
    service = await startIndependentService()
    const session = await diskJournal({ folder: stateDir }).open('video-busy')
    const begun = { version: 1, key: 'video-busy', flow: 'video', params: {}, locations: [], files: [] } as const
    await session.append([
      { at: 1, type: 'session.begun', ...begun },
      { at: 2, type: 'session.cancelled', isServiceTold: false },
    ])

    const { code, stdout, stderr } = await run('sessions', '--forget', 'video-busy')
    const unknown = await run('sessions', '--forget', 'video-never')
    await session.close()

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: .*"video-busy" cannot be opened/)
    expect(unknown.code).toBe(2)
  })

  it('names every session of the service that it ends or could not end, also before it is told', async () => {
    service = await startIndependentService()
    const journal = await diskJournal({ folder: stateDir }).open('video-moved')
    const plan = { name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
    const place = (fileIndex: number) => ({
      fileIndex,
      serverFileId: fileIndex,
      addresses: [`${service.storageUrl}/k`],
    })
    const params = { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 }
    const begun = { version: 1, key: 'video-moved', flow: 'video', params, locations: ['/a', '/b'] } as const
    const files = [0, 1].map((fileIndex) => ({ ...plan, fileIndex }))
    await journal.append([
      { at: 1, type: 'session.begun', ...begun, files },
      { at: 2, type: 'session.created', sessionId: 's1', files: [place(0), place(1)] },
      { at: 3, type: 'session.replaced', sessionId: 's2', files: [place(0)] },
      { at: 4, type: 'session.replaced', sessionId: 's3', files: [place(0)] },
    ])
    await journal.close()

    const dry = await run('cancel', 'video-moved', '--dry-run')
    const untold = await run('cancel', 'video-moved')
    const told = await run('cancel', 'video-moved', '--json')

    expect(dry.stdout).toContain('cancel of session s3')
    expect(dry.stdout).toContain('cancel of session s1')
    expect(dry.stdout).toContain('cancel of session s2')
    // This service knows none of them: of the newest that is believed only where an earlier try may have ended it.
    expect(untold.stdout).toBe('cancelled: video-moved; the service may still hold sessions s3, s1, s2\n')
    expect(untold.stderr).toMatch(
      /\(404\).*\nIt may have ended sessions s3, s1, s2 before, have been restored from a backup, or be another service; or the key or token is of another organisation than that which began it\.\nIf it says the same again, the session counts as ended: mocap-uplink cancel video-moved /,
    )
    expect(lastLine(told.stdout)).toMatchObject({ isServiceTold: true, sessionIds: ['s3', 's1', 's2'] })
  })

  it('of a capture says that the service has no call for it', async () => {
    service = await startIndependentService({
      faults: [{ operation: 'put', nth: 'every', fileName: 'take-2.action', action: { status: 400 } }],
    })
    const upload = await run('capture', 'take-1.action', 'take-2.action', ...CAPTURE, '--json')
    const key = String(lastLine(upload.stdout)['key'])

    const dry = await run('cancel', key, '--dry-run')
    const { code, stdout } = await run('cancel', key)

    expect(dry).toMatchObject({ code: 0, stdout: 'dry run: no call\n' })
    expect({ upload: upload.code, code }).toEqual({ upload: 3, code: 0 })
    expect(stdout).toBe(
      `cancelled: ${key}; the service has no call that ends a capture session, and keeps the 1 file stored in it\n`,
    )
  })
})

describe('all sessions', () => {
  it('are finished one after another, listed, and pruned', async () => {
    const refused: Fault = { operation: 'put', nth: 1, fileName: 'take-2.action', action: { status: 400 } }
    const killed = await killedUpload(refused)
    const partial = await run('capture', 'take-1.action', 'take-2.action', ...CAPTURE)
    const before = await run('sessions')
    const plan = await run('resume', '--dry-run')

    const { code, stdout, stderr } = await run('resume', '--json')
    const nothing = await run('resume')
    const after = await sessions()
    const pruned = await run('sessions', '--prune')
    const empty = await run('sessions')

    expect(partial.code).toBe(3)
    const table = before.stdout.split('\n')
    expect(table[0]).toMatch(/^KEY +FLOW +STATUS +FILES +BYTES +AGE$/)
    expect(table[1]).toMatch(new RegExp(`^${killed} +video +open +1 of 2 +10 MiB of 12 MiB +[\\d:]+$`))
    expect(table[2]).toMatch(/^capture-\S+ +capture +partial +1 of 2 +13 B of 26 B +[\d:]+$/)
    expect(plan.stdout).toContain(`dry run: ${killed}: 1 of 2 files and 2 MiB are missing\n`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(jsonLines(stdout).filter(({ event }) => event === 'ended')).toMatchObject([
      { flow: 'video', status: 'confirmed', key: killed },
      { flow: 'capture', status: 'confirmed' },
    ])
    expect(lastLine(stdout)).toMatchObject({
      ...{ event: 'result', flow: 'resume', status: 'confirmed', key: null, bytes: 12 * MIB + 33 },
      files: [{ name: 'small.mp4' }, { name: 'big.mp4' }, { name: 'take-1.action' }, { name: 'take-2.action' }],
    })
    expect(nothing.stderr).toBe('')
    expect(nothing).toMatchObject({ code: 0, stdout: `There is nothing to resume in ${stateDir}\n` })
    expect(after).toMatchObject([{ status: 'confirmed' }, { status: 'confirmed' }])
    expect(pruned.stdout).toBe('removed 2 finished sessions, 0 others kept\n')
    expect(empty.stdout).toBe(`There is no session in ${stateDir}\n`)
  })

  it.each([
    ['is damaged', (text: string) => text.replace('session.created', 'session.crated'), /damage|checksum/i],
    ['is of another version', (text: string) => text.replace(/\d+/, '987'), /version/i],
  ])('are finished but the one whose journal %s, which is told', async (_what, change, words) => {
    const sound = await killedUpload()
    await cli.run(['capture', 'take-1.action', ...CAPTURE], environment({ MOCAP_API_KEY: 'wrong' }))
    const captureKey = (await sessions()).find(({ flow }) => flow === 'capture')?.['key']
    const journal = join(stateDir, `session-${sound}`, 'journal')
    await writeFile(journal, change(await readFile(journal, 'utf8')))

    const listed = await run('sessions')
    const { code, stdout, stderr } = await run('resume', '--json')

    expect(listed.stdout).toMatch(new RegExp(`${sound} .*unreadable`))
    expect(listed.stderr).toMatch(words)
    expect(code).toBe(3)
    expect(stderr).toMatch(words)
    expect(stderr).toMatch(new RegExp(`^error: ${sound}: The journal `, 'm'))
    // When it began is not known any more, so its place in the list is not either.
    const ended = jsonLines(stdout).filter(({ event }) => event === 'ended')
    expect(ended.sort((one) => (one['key'] === sound ? -1 : 1))).toMatchObject([
      { key: sound, status: 'failed', error: { code: 'ERR_UPLOAD_JOURNAL' } },
      { key: captureKey, status: 'confirmed' },
    ])
  })
})
