// Dying addresses, as a line for people and as an event of --json.

import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'

import { tellAsLines, tellTroubles } from '../../../src/cli/views/change-lines.ts'
import { outageFields, tellAsJson } from '../../../src/cli/views/json-lines.ts'
import { createOutput } from '../../../src/cli/views/output.ts'
import { loudEmitter } from '../../helpers/loud-emitter.ts'
import { textSoFar } from '../../helpers/text-so-far.ts'
import type { ErrorSummary } from '../../../src/core/errors.ts'
import type { Upload } from '../../../src/flows/upload.ts'

function stage(isJson: boolean, isTerminal = false) {
  const [stdout, stderr] = [Object.assign(new PassThrough(), { isTTY: isTerminal }), new PassThrough()]
  const streams = { stdout, stderr } as unknown as { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream }
  const output = createOutput({ isJson, isQuiet: false, ...streams, env: {} })
  const emitter = loudEmitter()
  const upload = { on: emitter.on, off: emitter.off, state: 'uploading', files: () => [] } as unknown as Upload
  return { output, stdout, emitter, upload, said: () => textSoFar(stdout) }
}

const replaced = { oldSessionId: 's-1', newSessionId: 's-2', filesKept: 1, filesMoved: 3, bytesVoided: 5_242_880 }
const shortfall = { deadlineMs: Date.UTC(2026, 10, 20, 2), neededMs: 5_400_000, availableMs: 600_000 }

it('people are told what is sent again, and that a shortfall is coming', () => {
  const { output, emitter, upload, said } = stage(false)
  tellAsLines(upload, output)

  emitter.emit('session.replaced', replaced)
  emitter.emit('shortfall', shortfall)

  const [first, second] = said().split('\n')
  expect(first).toBe(
    'session replaced, because its addresses died: session s-2 takes 3 files, of which 5 MiB are sent again; 1 file kept',
  )
  expect(second).toMatch(
    /^shortfall: the addresses die at 2026-11-\d\d [\d:]{8}, and at this rate 1:30:00 are needed; /,
  )
})

it('people are not told that nothing is sent again where only no receipt was left to be voided', () => {
  const { output, emitter, upload, said } = stage(false)
  tellAsLines(upload, output)

  emitter.emit('session.replaced', { ...replaced, bytesVoided: 0 })

  expect(said()).toBe('session replaced, because its addresses died: session s-2 takes 3 files; 1 file kept\n')
})

it('scripts are told whole milliseconds and whole bytes a second', () => {
  const { output, emitter, upload, said } = stage(true)
  const watching = tellAsJson(upload, output, () => 0)

  const error = { code: 'ERR_UPLOAD_NETWORK', message: 'Reset.', partNumber: 2 } as const
  emitter.emit('retry', { fileIndex: 0, partNumber: 2, name: 'a.mp4', attempt: 1, delayMs: 1234.5678, error })
  const bytes = { sentBytes: 1, confirmedBytes: 1, totalBytes: 9, filesConfirmed: 0, filesFailed: 0, filesTotal: 1 }
  emitter.emit('progress', { ...bytes, bytesPerSecond: 99.6, remainingMs: 70.2 })
  emitter.emit('progress', { ...bytes, bytesPerSecond: 0.2, remainingMs: undefined })
  emitter.emit('shortfall', { ...shortfall, neededMs: 5_400_000.25, availableMs: -0.75 })
  watching.end()

  const lines = said().trim().split('\n')
  expect(lines.slice(1).map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: 'retry', delayMs: 1235, error },
    { event: 'progress', bytesPerSecond: 100, remainingMs: 70 },
    { event: 'shortfall', neededMs: 5_400_000, availableMs: -1 },
    { event: 'progress', bytesPerSecond: 0, remainingMs: null },
  ])
})

it('an outage has a line in a log for each new reason, and none for each of its probes', () => {
  const { output, emitter, upload, said } = stage(false)
  tellAsLines(Object.assign(upload, { state: 'waiting' }), output)

  for (const [index, message] of ['refused', 'refused', 'no part N', 'no part N', 'refused'].entries()) {
    const partNumber = index + 1
    const error = { code: 'ERR_UPLOAD_NETWORK', message: message.replace('N', String(partNumber)) } as const
    emitter.emit('retry', { fileIndex: 0, partNumber, name: 'a.mp4', attempt: 1, delayMs: 60_000, error })
  }

  expect(said().match(/(?<=: )(?:refused|no part \d)$/gm)).toEqual(['refused', 'no part 3'])
})

it('a reason is told again in another outage, and once a hundred others came between', () => {
  const toldOf = (messages: readonly string[], stateOf: (index: number) => string) => {
    const { output, emitter, upload, said } = stage(false)
    tellAsLines(upload, output)
    for (const [index, message] of messages.entries()) {
      Object.assign(upload, { state: stateOf(index) })
      const error = { code: 'ERR_UPLOAD_NETWORK', message } as const
      emitter.emit('retry', { fileIndex: 0, partNumber: 1, name: 'a.mp4', attempt: 1, delayMs: 500, error })
    }
    return said().match(/(?<=: )\w+$/gm)
  }

  const twoOutages = ['refused', 'refused', 'reset', 'refused']
  expect(toldOf(twoOutages, (index) => (index === 2 ? 'uploading' : 'waiting'))).toEqual([
    'refused',
    'reset',
    'refused',
  ])
  const many = [...Array.from({ length: 101 }, (_, index) => `reason${index}`), 'reason0']
  expect(toldOf(many, () => 'waiting')).toEqual(many)
})

const STORAGE = { who: 'storage', host: 'store.example:443', giveUpAtMs: Date.UTC(2026, 10, 20, 12) } as const

it('an outage is told once however often it is tried, with whose it is and when it is given up', () => {
  const { output, emitter, upload, said } = stage(false)
  tellAsLines(upload, output)

  const sinceMs = Date.UTC(2026, 10, 20, 2)
  for (const seconds of [1, 3, 7]) emitter.emit('waiting', { ...STORAGE, sinceMs, untilMs: sinceMs + seconds * 1_000 })
  emitter.emit('waiting', { ...STORAGE, sinceMs: sinceMs + 3_600_000, untilMs: sinceMs + 3_601_000 })

  const lines = said().trim().split('\n')
  expect(lines).toHaveLength(2)
  for (const line of lines)
    expect(line).toMatch(
      /^waiting: the storage store\.example:443 is out of reach since [-\d]{10} [\d:]{8}; it is tried again by itself, next at [-\d]{10} [\d:]{8}, and given up at [-\d]{10} [\d:]{8}$/,
    )
})

it('an outage of the service says who is waited for, why, and until when; once, though that of the storage comes between', () => {
  const { output, emitter, upload, said } = stage(false)
  tellAsLines(upload, output)

  const sinceMs = Date.UTC(2026, 10, 20, 2)
  const service = { who: 'service', host: 'service.example:443', reason: 'its name was not found' } as const
  const outage = { ...service, sinceMs, untilMs: sinceMs + 4_000 }
  for (let turn = 0; turn < 3; turn += 1) {
    emitter.emit('waiting', { ...outage, giveUpAtMs: sinceMs + 43_200_000 })
    emitter.emit('waiting', { ...STORAGE, sinceMs: sinceMs + 60_000, untilMs: sinceMs + 61_000 })
  }

  const [first, second, ...more] = said().trim().split('\n')
  expect(first).toMatch(
    /^waiting: the service service\.example:443 is out of reach since [-\d]{10} [\d:]{8} \(its name was not found\); it is tried again by itself, next at [-\d]{10} [\d:]{8}, and given up at [-\d]{10} [\d:]{8}$/,
  )
  expect(second).toMatch(/^waiting: the storage store\.example:443 is out of reach since/)
  expect(more).toEqual([])
})

it.each([
  [503, 'out of service'],
  [511, "behind this network's sign-in page"],
])('a service that answers %i is not said to be out of reach, but %s', (status, what) => {
  const { output, emitter, upload, said } = stage(false)
  tellAsLines(upload, output)
  const sinceMs = Date.UTC(2026, 10, 20, 2)
  const times = { sinceMs, untilMs: sinceMs + 4_000, giveUpAtMs: sinceMs + 3_600_000 }
  emitter.emit('waiting', {
    who: 'service',
    host: 'service.example:443',
    status,
    reason: `it answers ${status}`,
    ...times,
  })

  const line = `^waiting: the service service\\.example:443 is ${what} since .* \\(it answers ${status}\\);`
  expect(said()).toMatch(new RegExp(line))
})

it('an outage in JSON has what is answered as a number', () => {
  const host = { who: 'service', host: 'service.example:443', status: 503, reason: 'it answers 503' } as const

  expect(outageFields({ ...host, sinceMs: 0, untilMs: undefined, giveUpAtMs: undefined })).toMatchObject({
    since: '1970-01-01T00:00:00.000Z',
    status: 503,
  })
})

it.each([
  ['a log', false, 3],
  ['a terminal', true, 2],
])('%s has a line for each retry, or for each new reason', (_where, isTerminal, count) => {
  const { output, emitter, upload, said } = stage(false, isTerminal)
  tellTroubles(upload, output)

  for (const message of ['The storage answered 503', 'Connection was refused', 'The storage answered 503'])
    emitter.emit('retry', {
      ...{ fileIndex: 0, name: 'a.mp4', partNumber: 1, attempt: 1, delayMs: 500 },
      error: { code: 'ERR_UPLOAD_NETWORK', message },
    })

  expect(said().match(/^retry a\.mp4, part 1/gm)).toHaveLength(count)
})

it('breaks a long line between words on a terminal, but no command to copy, which begins a line of its own', () => {
  const { output, stdout, said } = stage(false, true)
  Object.assign(stdout, { columns: 40 })

  output.say('waiting: the storage is out of reach since 2026-11-20 02:00:00')
  output.answer('To finish: mocap-uplink resume video-mhq3x0c4-7k2f9m1xqz')

  expect(said()).toBe(
    'waiting: the storage is out of reach\nsince 2026-11-20 02:00:00\n' +
      'To finish:\nmocap-uplink resume video-mhq3x0c4-7k2f9m1xqz\n',
  )
})

it('leaves a command on the line of what is said of it where both fit, and in a log, where each line is one event', () => {
  const line = 'Missing: 1 of 20 files. To finish, with the right address for URL: mocap-uplink resume video-mhq3x0c4'
  const shown = (isTerminal: boolean, columns: number) => {
    const { output, stdout, said } = stage(false, isTerminal)
    Object.assign(stdout, { columns })
    output.answer(line)
    return said()
  }

  expect(shown(true, 120)).toBe(`${line}\n`)
  expect(shown(false, 0)).toBe(`${line}\n`)
  expect(shown(true, 40)).toBe(
    'Missing: 1 of 20 files. To finish, with\nthe right address for URL:\nmocap-uplink resume video-mhq3x0c4\n',
  )
})

it('scripts are told both as events', () => {
  const { output, emitter, upload, said } = stage(true)
  tellAsJson(upload, output, () => 0)

  emitter.emit('session.replaced', replaced)
  emitter.emit('shortfall', shortfall)

  const lines = said().trim().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: 'state', state: 'uploading' },
    { event: 'session.replaced', ...replaced },
    { event: 'shortfall', deadline: '2026-11-20T02:00:00.000Z', neededMs: 5_400_000, availableMs: 600_000 },
  ])
})

it('a drive that is away has one line, however many files lie on it and however often they are tried, until it is away again', () => {
  const { output, emitter, upload, said } = stage(false)
  let nowMs = 0
  tellTroubles(upload, output, () => nowMs)

  const tell = (name: string, at: number): void => {
    const message = `"/mnt/nas/${name}" cannot be read at byte ${at}: its drive does not answer. Check that it is connected.`
    const error = { code: 'ERR_UPLOAD_SOURCE_READ', message } as const
    emitter.emit('retry', { fileIndex: 0, partNumber: 1, name, attempt: 1, delayMs: 10, error })
  }
  for (; nowMs < 600_000; nowMs += 30_000) for (const name of ['a.mp4', 'b.mp4']) tell(name, nowMs)
  nowMs += 3_600_000
  tell('b.mp4', 7)

  expect(said().trim().split('\n')).toEqual([
    'waiting for a.mp4: "/mnt/nas/a.mp4" cannot be read at byte 0: its drive does not answer. Check that it is connected. It is tried again by itself for some minutes.',
    'waiting for b.mp4: "/mnt/nas/b.mp4" cannot be read at byte 7: its drive does not answer. Check that it is connected. It is tried again by itself for some minutes.',
  ])
})

it('scripts are told once of each file on a drive that is away, until it is away again, and of every other retry', () => {
  const { output, emitter, upload, said } = stage(true)
  let nowMs = 0
  tellAsJson(upload, output, () => nowMs)
  const retry = (fileIndex: number, attempt: number, error: ErrorSummary) =>
    emitter.emit('retry', { fileIndex, partNumber: 1, name: `${fileIndex}.action`, attempt, delayMs: 12_000, error })
  const away = (fileIndex: number, attempt: number) =>
    retry(fileIndex, attempt, {
      code: 'ERR_UPLOAD_SOURCE_READ',
      message: `"/mnt/nas/${fileIndex}.action" is gone with its drive. Put that back.`,
      file: `${fileIndex}.action`,
    })
  const files = 500
  const tryAll = (attempt: number) => {
    for (let fileIndex = 0; fileIndex < files; fileIndex += 1) away(fileIndex, attempt)
    nowMs += 12_000
  }

  for (let attempt = 1; attempt <= 63; attempt += 1) tryAll(attempt)
  const ofOutage = said()
  nowMs += 600_000
  away(7, 1)
  for (const attempt of [1, 2]) retry(7, attempt, { code: 'ERR_UPLOAD_NETWORK', message: 'Reset.' })

  expect(ofOutage.match(/"retry"/g)).toHaveLength(files)
  const rest = said().trim().split('\n')
  expect(rest.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: 'retry', fileIndex: 7, error: { code: 'ERR_UPLOAD_SOURCE_READ' } },
    { event: 'retry', fileIndex: 7, attempt: 1, error: { code: 'ERR_UPLOAD_NETWORK' } },
    { event: 'retry', fileIndex: 7, attempt: 2, error: { code: 'ERR_UPLOAD_NETWORK' } },
  ])
})
