// `resume` without a key, where one session cannot go on: the others are not kept waiting by it.

import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'

import { diskJournal, type JournalRecord } from '../../src/node.ts'
import { startIndependentService, type IndependentService } from '../helpers/independent-service.ts'
import { installCli, CAPTURE, jsonLines, lastLine, VIDEO, type CliUnderTest } from './cli-under-test.ts'

/** Nobody listens there. */
const DEAD_STORAGE = 'http://127.0.0.1:1'

let cli: CliUnderTest
let service: IndependentService
let stateDir: string

beforeAll(async () => {
  cli = await installCli()
  for (const name of ['clip.mp4', 'first.mp4', 'second.mp4']) await writeFile(join(cli.folder, name), 'content')
  for (const name of ['take.action', 'other.action', 'first.action', 'second.action'])
    await writeFile(join(cli.folder, name), 'movement')
})
afterAll(() => cli.remove())
beforeEach(async () => {
  stateDir = join(await mkdtemp(join(cli.folder, 'state-')), 'sessions')
  service = await startIndependentService()
})
afterEach(() => service.close())

function environment(more: Record<string, string> = {}): Record<string, string> {
  return { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey, MOCAP_STATE_DIR: stateDir, ...more }
}

/** A session whose addresses lead to a host that does not answer. */
async function keptWithDeadStorage(key: string, host?: string): Promise<void> {
  const path = join(cli.folder, 'clip.mp4')
  const { size, mtimeMs } = await stat(path)
  const journal = await diskJournal({ folder: stateDir }).open(key)
  const params = { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 }
  const plan = { fileIndex: 0, name: 'clip.mp4', sizeBytes: size, partSizeBytes: size, partCount: 1 }
  await journal.append([
    {
      ...{ at: 1, type: 'session.begun', version: 1, key, flow: 'video', params, locations: [path] },
      ...(host === undefined ? {} : { host }),
      files: [{ ...plan, modifiedAtMs: Math.floor(mtimeMs) }],
    },
    {
      ...{ at: 2, type: 'session.created', sessionId: 's1' },
      files: [{ fileIndex: 0, serverFileId: 1, addresses: [`${DEAD_STORAGE}/k`] }],
    },
  ])
  await journal.close()
}

/** What the command has kept of a capture that failed for its credentials, by the name of its file. */
const failedCaptures = new Map<string, readonly JournalRecord[]>()

/** A capture that failed for its credentials, and would be confirmed with the right ones. */
async function keptCapture(name = 'take.action'): Promise<string> {
  const records = failedCaptures.get(name)
  if (records === undefined) {
    const env = environment({ MOCAP_API_KEY: 'wrong' })
    const key = String(lastLine((await cli.run(['capture', name, ...CAPTURE, '--json'], env)).stdout)['key'])
    failedCaptures.set(name, await diskJournal({ folder: stateDir }).read(key))
    return key
  }
  // To run the command for each of them would take most of the time of these tests.
  const key = `capture-${randomUUID()}`
  const journal = await diskJournal({ folder: stateDir }).open(key)
  const { host } = new URL(service.url)
  await journal.append(
    records.map((record) => ({ ...record, at: Date.now(), ...('key' in record ? { key, host } : {}) })),
  )
  await journal.close()
  return key
}

/** An upload that failed for its credentials, and was given again. Of that, some files are confirmed. */
async function keptTwice(command: readonly string[]): Promise<{ readonly mistake: string; readonly later: string }> {
  const keyOf = async (env: Record<string, string>) => {
    const { code, stdout } = await cli.run([...command, '--concurrency', '1', '--json'], env)
    return [code, String(lastLine(stdout)['key'])] as const
  }
  const [, mistake] = await keyOf(environment({ MOCAP_API_KEY: 'wrong' }))
  const [code, later] = await keyOf(environment())
  expect(code).toBe(3)
  return { mistake, later }
}

/** Resumes all, and stops with Ctrl-C as soon as that session has ended. */
async function resumeUntilEnded(key: string) {
  const resume = cli.start(['resume', '--json'], environment())
  await resume.seen(new RegExp(`"event":"ended".*"key":"${key}"`))
  resume.process.kill('SIGINT')
  return resume.ended
}

it('goes on with the sessions behind one whose storage is out of reach, and says so', async () => {
  await keptWithDeadStorage('video-dead')
  const capture = await keptCapture()

  const { code, stdout } = await resumeUntilEnded(capture)

  expect(code).toBe(130)
  const lines = jsonLines(stdout)
  expect(lines.filter(({ event }) => event === 'ended')).toMatchObject([
    { key: capture, status: 'confirmed' },
    { key: 'video-dead', status: 'interrupted' },
  ])
  expect(lines.filter(({ event }) => event === 'state' || event === 'file').every(({ key }) => key !== undefined)).toBe(
    true,
  )
  expect(lines.at(-1)).toMatchObject({
    ...{ event: 'result', flow: 'resume', status: 'interrupted' },
    sessions: [
      { key: 'video-dead', status: 'interrupted' },
      { key: capture, status: 'confirmed' },
    ],
  })
})

it('tells a person which session waits, stops all with one word, and gives every lock back', async () => {
  await keptWithDeadStorage('video-dead-1')
  await keptWithDeadStorage('video-dead-2')
  const capture = await keptCapture()

  const resume = cli.start(['resume'], environment())
  await resume.seen(new RegExp(`^confirmed: ${capture}: 1 of 1 file`, 'm'))
  resume.process.kill('SIGTERM')
  const { code, stdout, stderr } = await resume.ended
  const again = await cli.run(['cancel', 'video-dead-1', '--dry-run'], environment())

  expect(code).toBe(143)
  expect(stdout.match(/^Session .* waits; the next one goes on meanwhile\.$/gm)).toEqual([
    'Session video-dead-1 waits; the next one goes on meanwhile.',
    'Session video-dead-2 waits; the next one goes on meanwhile.',
  ])
  expect(stdout).toContain(`Session ${capture} (3 of 3)`)
  expect(stdout.match(/^Stopping: /gm)).toHaveLength(1)
  expect(stdout.match(/^interrupted: (?:video-dead-[12]: 0 of 1 file|1 of 3 sessions) /gm)).toHaveLength(3)
  // Of several sessions that go on at a time each line says whose it is.
  expect(stdout).toMatch(/^video-dead-1: waiting: the storage [\w.:]+ is out of reach/m)
  expect(stdout).toMatch(/^video-dead-2: waiting: the storage [\w.:]+ is out of reach/m)
  expect(stdout).toMatch(new RegExp(`^${capture}: confirmed take\\.action`, 'm'))
  for (const key of ['video-dead-1', 'video-dead-2']) expect(stderr).toContain(`To finish: mocap-uplink resume ${key} `)
  expect(again.code).toBe(0)
})

it('counts the time in which several sessions wait once', async () => {
  await keptWithDeadStorage('video-dead-1')
  await keptWithDeadStorage('video-dead-2')

  const resume = cli.start(['resume', '--json'], environment())
  // The second is told of again when it has waited for a while.
  await resume.seen(/(?:"event":"waiting".*"key":"video-dead-2"[^]*){2}/)
  resume.process.kill('SIGINT')
  const lines = jsonLines((await resume.ended).stdout)

  const each = lines.filter(({ event }) => event === 'ended').map(({ durationMs }) => Number(durationMs))
  expect(each).toHaveLength(2)
  const together = Number(lines.at(-1)?.['durationMs'])
  expect(together).toBeGreaterThanOrEqual(Math.max(...each))
  expect(together).toBeLessThan(each[0]! + each[1]!)
})

it('writes the receipt of none over a file that is no receipt, which it says before any call', async () => {
  const keys = [await keptCapture(), await keptCapture('other.action')]
  const theirs = join(cli.folder, `receipt.json.${keys[1]}`)
  await writeFile(theirs, 'something else')
  const calls = service.records.requests.length

  const { code, stderr } = await cli.run(['resume', '--receipt', 'receipt.json'], environment())

  expect(code).toBe(2)
  expect(stderr).toMatch(/^error: --receipt: "receipt\.json\.capture-\S+" already exists and is not a receipt, /)
  expect(await readFile(theirs, 'utf8')).toBe('something else')
  const nameless = await cli.run(['resume', '--receipt', ''], environment())
  expect(nameless).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: --receipt is empty: /) as string })
  expect(service.records.requests).toHaveLength(calls)
})

it('names for each session the receipt of its own in the command that finishes it, or the last would be written over the others', async () => {
  const keys = [await keptCapture(), await keptCapture('other.action')]
  await keptWithDeadStorage('video-theirs', 'elsewhere.example:443')
  const wrong = environment({ MOCAP_API_KEY: 'wrong' })

  const { stderr } = await cli.run(['resume', '--receipt', 'of-each.json'], wrong)

  const receipt = join(cli.folder, 'of-each.json')
  for (const key of keys)
    expect(stderr).toMatch(
      new RegExp(
        `^.*To finish, with a key or token that the service accepts: .*resume ${key} .*--receipt ${receipt}\\.${key}$`,
        'm',
      ),
    )
  expect(stderr).toMatch(new RegExp(`^video-theirs is left out: .*--receipt ${receipt}\\.video-theirs$`, 'm'))
})

it('delivers once what was given again after mistakes, and says what is left out', async () => {
  const mistakes = [await keptCapture(), await keptCapture()]
  const other = await keptCapture('other.action')
  const last = await keptCapture()
  const twice = await cli.run(['resume'], environment())

  for (const key of mistakes) {
    expect(twice.stderr).toContain(`${key} is left out: it never began, and its files were given again as ${last}.`)
    expect(twice.stderr).toContain(`To forget it: mocap-uplink cancel ${key} `)
  }
  expect(twice.stdout).toContain('confirmed: 2 of 2 sessions confirmed')
  expect(twice.code).toBe(0)
  // Also when it is confirmed by now; and whoever names one means it.
  const again = await cli.run(['resume', '--json'], environment())
  expect(jsonLines(again.stdout)).toMatchObject([
    { event: 'leftOut', key: mistakes[1], givenAgainAs: last },
    { event: 'leftOut', key: mistakes[0], givenAgainAs: last },
    { event: 'result', sessions: [] },
  ])
  expect(lastLine((await cli.run(['resume', mistakes[0]!, '--json'], environment())).stdout)).toMatchObject({
    status: 'confirmed',
  })
  expect((await cli.run(['sessions'], environment())).stdout).toMatch(new RegExp(`${other} .*confirmed`))
})

it('names the first of many that are left out, counts the others, and has all of them in JSON', async () => {
  const left = Array.from({ length: 7 }, (_, n) => `video-theirs-${n}`)
  for (const key of left) await keptWithDeadStorage(key, 'trial.example:443')

  const { stderr } = await cli.run(['resume'], environment())
  const { stdout } = await cli.run(['resume', '--json'], environment())

  const lines = stderr.trimEnd().split('\n')
  expect(lines.map((line) => line.split(' ')[0])).toEqual([...left.slice(0, 5), '2'])
  // Where they are: another folder would be listed otherwise.
  expect(lines.at(-1)).toBe(
    `2 more sessions left out for the same reason. To list all: mocap-uplink sessions --state-dir ${stateDir}`,
  )
  expect(jsonLines(stdout).flatMap(({ event, key }) => (event === 'leftOut' ? [key] : []))).toEqual(left)
})

it('leaves out what was begun at another service, unless it is named, and says at which', async () => {
  const [theirs, ours] = ['video-theirs', await keptCapture()]
  await keptWithDeadStorage(theirs, 'trial.example:443')

  const all = await cli.run(['resume', '--json'], environment())
  const named = await cli.run(['resume', theirs, '--dry-run'], environment())

  expect(jsonLines(all.stdout)[0]).toMatchObject({ event: 'leftOut', key: theirs, begunAt: 'trial.example:443' })
  expect(all.code).toBe(3)
  const [ended, result] = jsonLines(all.stdout).slice(-2)
  expect(ended).toMatchObject({ event: 'ended', status: 'confirmed', key: ours })
  expect(result).toMatchObject({ event: 'result', status: 'partial', sessions: [{ key: ours, status: 'confirmed' }] })
  expect(all.stderr).toContain(
    `${theirs} is left out: it was begun at trial.example:443, and this is ${new URL(service.url).host}. ` +
      `If both are the same service: mocap-uplink resume ${theirs} `,
  )
  expect(named.stdout).toMatch(/^dry run: video-theirs: /)
})

it('takes up what was given to a misspelt address, begun here by a resume, and interrupted', async () => {
  const misspelt = await cli.run(
    ['video', 'clip.mp4', ...VIDEO, '--json'],
    environment({ MOCAP_BASE_URL: DEAD_STORAGE }),
  )
  const key = String(lastLine(misspelt.stdout)['key'])
  await service.close()
  service = await startIndependentService({ faults: [{ operation: 'confirm', nth: 1, action: { status: 401 } }] })
  expect((await cli.run(['resume', key], environment())).code).toBe(4)

  const { code, stdout, stderr } = await cli.run(['resume'], environment())

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^confirmed: 1 of 1 file confirmed/m)
})

it('leaves out what another service was asked to begin without an answer, and begins here what nobody was asked for', async () => {
  const keys = ['capture-asked', 'capture-new']
  for (const key of keys) {
    const at = await keptCapture(key === 'capture-new' ? 'other.action' : 'take.action')
    const [begun] = await diskJournal({ folder: stateDir }).read(at)
    await cli.run(['cancel', at], environment())
    const journal = await diskJournal({ folder: stateDir }).open(key)
    await journal.append([{ ...begun!, key, host: 'trial.example:443' } as JournalRecord])
    if (key === 'capture-asked') await journal.append([{ type: 'session.creating', at: 2 }])
    await journal.close()
  }

  const { code, stdout, stderr } = await cli.run(['resume', '--json'], environment())

  expect(code).toBe(3)
  expect(stderr).toMatch(
    / service, or that address was wrong: .* resume \S+ .*\. If its files were given again since: .* cancel \S+ /,
  )
  expect(jsonLines(stdout)[0]).toMatchObject({ event: 'leftOut', key: 'capture-asked', begunAt: 'trial.example:443' })
  expect(lastLine(stdout)).toMatchObject({ sessions: [{ key: 'capture-new', status: 'confirmed' }] })
})

it('says that it was interrupted where a signal came before the one session that there is', async () => {
  await keptCapture()
  await keptCapture()
  const calls = service.records.requests.length
  const preload = `
    const { write } = process.stdout
    process.stdout.write = (text, ...rest) => {
      if (String(text).includes('"event":"leftOut"')) process.emit('SIGINT')
      return write.call(process.stdout, text, ...rest)
    }`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(preload)}`

  const { code, stdout } = await cli.run(['resume', '--json'], environment({ NODE_OPTIONS }))

  expect(code).toBe(130)
  expect(lastLine(stdout)).toMatchObject({ flow: 'resume', status: 'interrupted', sessions: [] })
  expect(service.records.requests).toHaveLength(calls)
})

it('stops at once where the service gives no answer about a session that was left empty', async () => {
  await service.close()
  service = await startIndependentService({
    faults: [{ operation: 'cancel', nth: 'every', action: { delayMs: 600_000 } }],
  })
  const plan = { fileIndex: 0, name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
  const files = [{ fileIndex: 0, serverFileId: 1, addresses: [`${service.storageUrl}/k`] }]
  const params = { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 }
  const begun = { version: 1, key: 'video-done', flow: 'video', params, locations: ['/a.mp4'] } as const
  const journal = await diskJournal({ folder: stateDir }).open('video-done')
  await journal.append([
    { at: 1, type: 'session.begun', ...begun, files: [plan] },
    { at: 2, type: 'session.created', sessionId: 's1', files },
    { at: 3, type: 'session.replaced', sessionId: 's2', files },
    { at: 4, type: 'part.received', fileIndex: 0, partNumber: 1, receipt: { acceptedEnd: 3, isVerified: false } },
    { at: 5, type: 'file.confirmed', fileIndex: 0 },
    { at: 6, type: 'session.settled', status: 'confirmed' },
  ])
  await journal.close()
  // It waits for that answer for ten minutes, not for 15 s.
  const preload = `
    const { setTimeout } = globalThis
    globalThis.setTimeout = (call, ms, ...more) => setTimeout(call, ms === 15_000 ? 600_000 : ms, ...more)`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(preload)}`
  const resume = cli.start(['resume', '--json'], environment({ NODE_OPTIONS }))
  onTestFinished(() => void resume.process.kill('SIGKILL'))
  await expect.poll(() => service.requestsOf('cancel'), { timeout: 30_000 }).toHaveLength(1)

  resume.process.kill('SIGINT')

  const { code, stdout } = await resume.ended
  expect(code).toBe(130)
  expect(lastLine(stdout)).toMatchObject({ flow: 'resume', status: 'interrupted', sessions: [] })
  expect(await readdir(join(stateDir, 'session-video-done'))).toEqual(['journal'])
})

it('delivers nothing once more where the first of two mistakes was resumed by its key', async () => {
  const [first, second] = [await keptCapture(), await keptCapture()]
  expect((await cli.run(['resume', first], environment())).code).toBe(0)

  const { stdout } = await cli.run(['resume', '--json'], environment())

  expect(jsonLines(stdout)).toMatchObject([
    { event: 'leftOut', key: second, givenAgainAs: first },
    { event: 'result', sessions: [] },
  ])
})

it('delivers nothing once more when what is finished was removed: the mistakes before it are removed with it', async () => {
  const mistake = await keptCapture()
  const [last, other] = [await keptCapture(), await keptCapture('other.action')]
  expect((await cli.run(['resume', last], environment())).code).toBe(0)

  const pruned = await cli.run(['sessions', '--prune', '--json'], environment())

  const removed = [mistake, last].map((key) => ({ event: 'removed', key }))
  expect(jsonLines(pruned.stdout)).toMatchObject([...removed, { event: 'result', sessions: 1, removed: 2 }])
  expect(lastLine((await cli.run(['resume', '--json'], environment())).stdout)).toMatchObject({ key: other })
})

it('delivers nothing once more when what is finished is forgotten: the mistakes before it are forgotten with it', async () => {
  const mistake = await keptCapture()
  const [last, other] = [await keptCapture(), await keptCapture('other.action')]
  expect((await cli.run(['resume', last], environment())).code).toBe(0)

  const forgotten = await cli.run(['sessions', '--forget', last, '--json'], environment())

  const removed = [mistake, last].map((key) => ({ event: 'removed', key }))
  expect(jsonLines(forgotten.stdout)).toMatchObject([...removed, { event: 'result', sessions: 1, removed: 2 }])
  expect(lastLine((await cli.run(['resume', '--json'], environment())).stdout)).toMatchObject({ key: other })
})

it('delivers nothing once more where what was given again is given up, and part of it stays', async () => {
  const refused = [2, 4].map((nth) => ({ operation: 'put', nth, action: { status: 400 } }) as const)
  await service.close()
  service = await startIndependentService({ faults: refused })
  const video = await keptTwice(['video', 'first.mp4', 'second.mp4', ...VIDEO])
  expect((await cli.run(['cancel', video.later, '--keep-confirmed'], environment())).code).toBe(0)
  const capture = await keptTwice(['capture', 'first.action', 'second.action', ...CAPTURE])
  expect((await cli.run(['cancel', capture.later], environment())).code).toBe(0)

  const { stdout } = await cli.run(['resume', '--json'], environment())

  expect(jsonLines(stdout)).toMatchObject([
    { event: 'leftOut', key: capture.mistake, givenAgainAs: capture.later },
    { event: 'leftOut', key: video.mistake, givenAgainAs: video.later },
    { event: 'result', sessions: [] },
  ])
})

it('finishes what never began where what was given again is given up', async () => {
  const [first, second] = [await keptCapture(), await keptCapture()]
  expect((await cli.run(['cancel', second], environment())).code).toBe(0)

  expect(lastLine((await cli.run(['resume', '--json'], environment())).stdout)).toMatchObject({
    ...{ key: first, status: 'confirmed' },
  })
})

it('says of a session that another process drives that nothing was done here', async () => {
  await keptWithDeadStorage('video-busy')
  const journal = await diskJournal({ folder: stateDir }).open('video-busy')

  const { code, stdout, stderr } = await cli.run(['resume'], environment())
  const listed = await cli.run(['sessions'], environment())
  await journal.close()
  const after = await cli.run(['sessions'], environment())

  expect(listed.stdout).toMatch(/^video-busy +video +open, in use +0 of 1 /m)
  expect(after.stdout).toMatch(/^video-busy +video +open +0 of 1 /m)
  expect(code).toBe(1)
  expect(stdout).toBe('failed: nothing was sent, session s1\n')
  expect(stderr).toMatch(/^error: The session "video-busy" cannot be opened: process \d+ is working on it/)
  expect(stderr).toMatch(/\nTo finish: mocap-uplink resume video-busy [^\n]*--base-url \S+\n$/)
})

it('says of videos, too, that a service does not know them, and does not send them again and again for it', async () => {
  const command = ['video', 'first.mp4', 'second.mp4', ...VIDEO, '--json']
  await service.close()
  // The second file is still on its way when the confirmation of the first is refused, so neither is confirmed.
  const refused = { operation: 'confirm', nth: 1, action: { status: 401 } } as const
  const held = { operation: 'put', fileName: 'second.mp4', nth: 1, action: { stall: 'midBody' } } as const
  service = await startIndependentService({ faults: [refused, held] })
  const key = String(lastLine((await cli.run(command, environment())).stdout)['key'])
  const other = await startIndependentService()
  const there = { MOCAP_BASE_URL: other.url, MOCAP_API_KEY: other.apiKey }

  const left = await cli.run(['resume'], environment(there))
  const { code, stderr } = await cli.run(['resume', key], environment(there))
  const again = await cli.run(['resume', key], environment())
  await other.close()

  expect(left).toMatchObject({ code: 1, stdout: `There is nothing else to resume in ${stateDir}\n` })
  expect(left.stderr).toMatch(new RegExp(`^${key} is left out: it was begun at `))

  expect(code).toBe(1)
  const [, , what, later, never] = stderr.split('\n')
  expect(what).toMatch(
    /^Missing: 2 of 2 files, .* is not known there: the key .*, or the service may have been .*, or be another one/,
  )
  expect(later).toMatch(new RegExp(`^Once it is known: mocap-uplink resume ${key} `))
  expect(never).toMatch(new RegExp(`upload what is missing as a new session, then: mocap-uplink cancel ${key} `))
  expect(other.requestsOf('confirm').length).toBeLessThanOrEqual(4)
  expect(again.code).toBe(0)
})

it('goes on behind as many sessions of a dead storage as a season leaves', async () => {
  for (let count = 0; count < 17; count += 1) await keptWithDeadStorage(`video-dead-${count}`)
  const capture = await keptCapture()

  const { code, stdout } = await resumeUntilEnded(capture)

  expect(code).toBe(130)
  expect(lastLine(stdout)['sessions']).toHaveLength(18)
})

it('ends with 3 where one session is confirmed and another is not, and says partial', async () => {
  await keptWithDeadStorage('video-busy')
  const journal = await diskJournal({ folder: stateDir }).open('video-busy')
  await keptCapture()

  const { code, stdout } = await cli.run(['resume', '--quiet'], environment())
  await journal.close()

  expect(code).toBe(3)
  expect(stdout).toMatch(/^partial: 1 of 2 sessions confirmed$/m)
})

it('says of all sessions together what a program must know of one: a create without an answer may have left a session', async () => {
  const journal = await diskJournal({ folder: stateDir }).open(await keptCapture())
  await journal.append([{ type: 'session.creating', at: 2 }])
  await journal.close()
  await keptCapture('other.action')

  const { stdout } = await cli.run(['resume', '--json'], environment())

  expect(lastLine(stdout)).toMatchObject({ flow: 'resume', status: 'confirmed', hasPossibleOrphan: true })
})
