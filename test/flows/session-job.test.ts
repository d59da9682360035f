// How files are registered and confirmed, and what must be on record before: by a record alone where no call is needed, in the same
// step where that is durable at once.

import { describe, expect, it, vi } from 'vitest'

import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { HttpStatusError, UploadError } from '../../src/core/errors.ts'
import { JOURNAL_VERSION } from '../../src/core/journal/journal.ts'
import { fileAt } from '../../src/core/journal/ledger.ts'
import { ONE_PUT_LIMITS } from '../../src/core/plan.ts'
import type { Journal, PlannedFile, Protocol } from '../../src/core/ports.ts'
import { unlessAborted } from '../../src/core/unless-aborted.ts'
import { createSessionJob } from '../../src/flows/session-job.ts'
import { createSessionRecord } from '../../src/flows/session-record.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const traits = { order: 'any', addressing: 'batches', batchSize: 10 } as const
const protocol: Protocol = {
  traits: { units: ONE_PUT_LIMITS, ...traits },
  create: () => Promise.resolve({ sessionId: 's' }),
  request: () => ({ method: 'PUT', headers: {} }),
  judge: (_reply, unit) => ({ kind: 'received', acceptedEnd: unit.end }),
}

const onHang = (): void => undefined
/** The end of a call that the service has refused without a doubt. */
const UNHEARD = new UploadError('ERR_UPLOAD_CREDENTIALS_REFUSED', 'No.', { details: { isDoubtful: false } })
const EXPIRED = new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', 'It has expired.')

const files = (count: number): PlannedFile[] =>
  Array.from({ length: count }, (_, fileIndex) => ({
    fileIndex,
    name: `${String(fileIndex)}.c3d`,
    ...{ sizeBytes: 3, partSizeBytes: 3, partCount: 1 },
  }))

/** A session of so many files, the first of which is registered. */
async function begunSession(journal: Journal, own: Partial<Protocol> = {}, count = 1, params = {}, options = {}) {
  const clock = createSimulatedClock()
  const record = createSessionRecord(journal, clock, 'k')
  const begun = {
    version: JOURNAL_VERSION,
    key: 'k',
    flow: 'capture',
    params,
    files: files(count),
    locations: [],
  } as const
  await record.write({ type: 'session.begun', ...begun })
  await record.write({ type: 'session.created', sessionId: 's' })
  await record.write({ type: 'files.registered', files: [{ fileIndex: 0, addresses: ['https://s.test/0'] }] })
  const job = createSessionJob({
    ...{ record, protocol: { ...protocol, ...own }, clock },
    source: () => {
      throw new Error('Nothing is read.')
    },
    report: () => undefined,
    bytesPerSecond: () => 0,
    onReplaced: () => undefined,
    ...options,
  })
  return { file: fileAt(record.ledger(), 0), job, record, clock, signal: new AbortController().signal }
}

const RECEIVED = {
  type: 'part.received',
  fileIndex: 0,
  partNumber: 1,
  generation: 0,
  receipt: { acceptedEnd: 3, isVerified: false },
} as const

/** The same, and that file has its receipt. */
async function receivedFile(journal: Journal, own?: Partial<Protocol>) {
  const session = await begunSession(journal, own)
  await session.record.write(RECEIVED)
  return session
}

/** Whose records of a type are durable only when that is said. */
function slowJournal(type: string) {
  let isSynced: () => void = () => undefined
  const append = (records: readonly { readonly type: string }[]): Promise<void> =>
    records[0]?.type === type ? new Promise((resolve) => (isSynced = resolve)) : Promise.resolve()
  const session = { key: 'k', records: [], append, close: () => Promise.resolve() }
  return { journal: { ...memoryJournal(), open: () => Promise.resolve(session) }, sync: () => isSynced() }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a file that needs no call', () => {
  it('is confirmed when its finish returns, where the journal has the record by then', async () => {
    const { file, job, signal } = await receivedFile(memoryJournal())

    expect(job.finish(file, signal, onHang)).toBeUndefined()
    expect(file.state).toBe('confirmed')
  })

  it('is not confirmed before its record is durable', async () => {
    const { journal, sync } = slowJournal('file.confirmed')
    const { file, job, signal } = await receivedFile(journal)

    const finishing = job.finish(file, signal, onHang)
    await turn()
    expect(file.state).toBe('received')
    sync()
    await finishing

    expect(file.state).toBe('confirmed')
  })
})

it('a file that went to another session gets its addresses and is confirmed there, by its place if it has no id', async () => {
  const asked: unknown[] = []
  const { file, job, record, signal } = await begunSession(
    memoryJournal(),
    {
      register(sessionId) {
        asked.push(['register', sessionId])
        return Promise.resolve([{ fileIndex: 0, addresses: ['https://s.test/3'] }])
      },
      confirm(sessionId, serverFileId) {
        asked.push(['confirm', sessionId, serverFileId])
        return Promise.resolve()
      },
    },
    2,
  )
  const moved = [{ fileIndex: 0, addresses: ['https://s.test/2'] }]
  await record.write({ type: 'session.replaced', sessionId: 's2', files: moved })

  await job.renew(file, { isDead: true, error: EXPIRED, lifeMs: undefined, signal })
  await record.write({ ...RECEIVED, generation: 1 })
  await job.finish(file, signal, onHang)

  expect(asked).toEqual([
    ['register', 's2'],
    ['confirm', 's2', 0],
  ])
})

it.each([
  ['by a record alone', {}, 64],
  ['by a call', { confirm: () => Promise.resolve() }, undefined],
  ['after it was read again, which takes memory', {}, undefined],
])('so many files may be finished at once where each is confirmed %s', async (how, own, count) => {
  const contentHasher = how.startsWith('after') ? { start: () => expect.fail() } : undefined
  const { job } = await begunSession(memoryJournal(), own, 1, {}, { contentHasher })

  expect(job.finishesAtOnce).toBe(count)
})

describe('a file that is confirmed by a call', () => {
  it('is not asked for before the journal has all its receipts for good: no part of it may go again after that', async () => {
    const { journal, sync } = slowJournal('file.confirming')
    const confirm = vi.fn(() => Promise.resolve())
    const { file, job, signal } = await receivedFile(journal, { confirm })

    const finishing = job.finish(file, signal, onHang)
    await turn()
    expect(confirm).not.toHaveBeenCalled()
    sync()
    await finishing

    expect([confirm.mock.calls.length, file.state]).toEqual([1, 'confirmed'])
  })

  it('is not asked for when the upload was stopped while that was put on record', async () => {
    const { journal, sync } = slowJournal('file.confirming')
    const confirm = vi.fn(() => Promise.resolve())
    const { file, job } = await receivedFile(journal, { confirm })
    const controller = new AbortController()

    const finishing = job.finish(file, controller.signal, onHang)
    await turn()
    controller.abort(new Error('paused'))
    sync()

    await expect(finishing).rejects.toThrow('paused')
    expect(confirm).not.toHaveBeenCalled()
  })

  it('is given time, more after each further refusal, for what is still on its way to arrive before its parts go again', async () => {
    const refusal = new UploadError('ERR_UPLOAD_CONFIRM_REFUSED', 'The etag is not the stored one.')
    const confirm = (): Promise<void> => Promise.reject(refusal)
    const { file, job, record, clock, signal } = await receivedFile(memoryJournal(), { confirm })
    const again = vi.fn()
    const finish = async (): Promise<void> => {
      await record.write({ type: 'part.doubtful', fileIndex: 0, partNumber: 1, generation: 0 })
      await record.write(RECEIVED)
      void job.finish(file, signal, onHang)?.then(again)
      await clock.advance(0)
    }
    await finish()
    expect(again.mock.calls).toEqual([[[1]]])

    await finish()
    await clock.advance(999)
    expect([again.mock.calls.length, file.state]).toEqual([1, 'confirming'])
    await clock.advance(1)

    expect([again.mock.calls.length, file.state]).toEqual([2, 'ready'])

    await finish()
    await clock.advance(1_999)
    expect(again).toHaveBeenCalledTimes(2)
    await clock.advance(1)

    expect(again).toHaveBeenCalledTimes(3)
  })

  it('is believed to be refused after six such refusals, however doubtful its parts are each time', async () => {
    const refusal = new UploadError('ERR_UPLOAD_CONFIRM_REFUSED', 'The etag is not the stored one.')
    const confirm = vi.fn(() => Promise.reject(refusal))
    const { file, job, record, clock, signal } = await receivedFile(memoryJournal(), { confirm })
    const ends: unknown[] = []
    for (let round = 1; round <= 7; round += 1) {
      await record.write({ type: 'part.doubtful', fileIndex: 0, partNumber: 1, generation: 0 })
      await record.write(RECEIVED)
      job.finish(file, signal, onHang)?.then(
        (again) => ends.push(again),
        (error: unknown) => ends.push(error),
      )
      await clock.advance(60_000)
    }

    expect(ends).toEqual([...Array.from({ length: 6 }, () => [1]), refusal])
    expect(confirm).toHaveBeenCalledTimes(7)
  })

  it('of an earlier life sends all of its parts again once, and not again where it is refused without a doubt', async () => {
    const refusal = new UploadError('ERR_UPLOAD_CONFIRM_REFUSED', 'The part is not stored.')
    const confirm = (): Promise<void> => Promise.reject(refusal)
    const { file, job, record, clock, signal } = await receivedFile(memoryJournal(), { confirm })
    await record.write({ type: 'session.resumed' })

    expect(await job.finish(file, signal, onHang)).toEqual([1])
    await record.write(RECEIVED)
    const ended = expect(job.finish(file, signal, onHang)).rejects.toBe(refusal)
    await clock.advance(60_000)
    await ended
  })

  it('of an earlier life sends nothing again where it may be confirmed already: the yes may have been lost', async () => {
    const refusal = new UploadError('ERR_UPLOAD_CONFIRM_REFUSED', 'It is confirmed with other ETags.')
    const confirm = (): Promise<void> => Promise.reject(refusal)
    const { file, job, record, signal } = await receivedFile(memoryJournal(), { confirm })
    await record.write({ type: 'file.confirming', fileIndex: 0 })
    await record.write({ type: 'session.resumed' })

    await expect(job.finish(file, signal, onHang)).rejects.toBe(refusal)
    expect(file.receivedCount).toBe(1)
  })

  it('may still be confirmed where the call of this life was never made: a discard must keep it', async () => {
    const { file, job, record } = await receivedFile(memoryJournal(), { confirm: () => Promise.resolve() })
    await record.write({ type: 'file.confirming', fileIndex: 0 })
    await record.write({ type: 'session.resumed' })

    await expect(job.finish(file, AbortSignal.abort('paused'), onHang)).rejects.toMatchObject({ message: 'paused' })
    expect([file.mayBeConfirmed, file.receivedCount]).toEqual([true, 1])
  })

  it('may be confirmed where its call was under way when that of another ended the upload, whatever that one says of itself', async () => {
    const { file, job, clock } = await receivedFile(memoryJournal(), {
      confirm: (_session, _file, _receipts, signal) => unlessAborted(new Promise<void>(() => undefined), signal),
    })
    const upload = new AbortController()
    const ended = expect(job.finish(file, upload.signal, onHang)).rejects.toMatchObject({ code: UNHEARD.code })
    await turn()
    upload.abort(UNHEARD)
    await clock.advance(4_000)

    await ended
    expect(file.mayBeConfirmed).toBe(true)
  })

  it('sends no part again because the call failed without a word on the parts, however doubtful they are', async () => {
    const failure = new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', 'It answers 500.')
    const confirm = (): Promise<void> => Promise.reject(failure)
    const { file, job, record, signal } = await receivedFile(memoryJournal(), { confirm })
    await record.write({ type: 'part.doubtful', fileIndex: 0, partNumber: 1, generation: 0 })
    await record.write(RECEIVED)

    await expect(job.finish(file, signal, onHang)).rejects.toBe(failure)
    expect(file.receivedCount).toBe(1)
  })

  it('is sent again once at most where the service does not know it: it may be another service', async () => {
    const cause = new HttpStatusError('ERR_UPLOAD_SERVICE_REFUSED', 'No such session.', { status: 404 })
    const refusal = new UploadError('ERR_UPLOAD_CONFIRM_REFUSED', 'No such session.', { cause })
    const confirm = (): Promise<void> => Promise.reject(refusal)
    const { file, job, record, clock, signal } = await receivedFile(memoryJournal(), { confirm })
    await record.write({ type: 'part.doubtful', fileIndex: 0, partNumber: 1, generation: 0 })

    expect(await job.finish(file, signal, onHang)).toEqual([1])
    await record.write(RECEIVED)
    const ended = expect(job.finish(file, signal, onHang)).rejects.toBe(refusal)
    await clock.advance(60_000)
    await ended
  })
})

describe('names', () => {
  it('are registered one call after another, those of a renewal too: their order is that of the captures', async () => {
    const answers: (() => void)[] = []
    const asked: string[][] = []
    const register: NonNullable<Protocol['register']> = (_session, plans) => {
      asked.push(plans.map(({ name }) => name))
      const addressed = plans.map(({ fileIndex }) => ({
        fileIndex,
        addresses: [`https://s.test/${String(fileIndex)}`],
      }))
      return new Promise((resolve) => answers.push(() => resolve(addressed)))
    }
    const { file, job, signal } = await begunSession(memoryJournal(), { register }, 2)

    const both = [job.replenish(signal), job.renew(file, { isDead: true, error: EXPIRED, lifeMs: undefined, signal })]
    await turn()
    expect(asked).toEqual([['1.c3d']])
    answers[0]?.()
    await turn()
    expect(asked).toEqual([['1.c3d'], ['0.c3d']])
    answers[1]?.()

    expect(await Promise.all(both)).toEqual([undefined, true])
  })

  it('that were asked for before go apart from others, as a repetition, and so does a renewal: only those may be overwritten', async () => {
    const asked: [string, boolean][] = []
    const register: NonNullable<Protocol['register']> = (_session, plans, { isRepeat }) => {
      asked.push([plans.map(({ name }) => name).join(), isRepeat])
      return Promise.resolve(plans.map(({ fileIndex, name }) => ({ fileIndex, addresses: [`https://s.test/${name}`] })))
    }
    const { file, job, record, signal } = await begunSession(memoryJournal(), { register }, 4)
    await record.write({ type: 'files.registering', fileIndexes: [1] })

    await job.replenish(signal)
    await job.replenish(signal)
    await job.renew(file, { isDead: true, error: EXPIRED, lifeMs: undefined, signal })

    expect(asked).toEqual([
      ['1.c3d', true],
      ['2.c3d,3.c3d', false],
      ['0.c3d', true],
    ])
  })

  const REFUSED = new HttpStatusError('ERR_UPLOAD_SERVICE_REFUSED', 'No such name.', { status: 422 })
  it.each([
    ['one is refused', REFUSED, false, false],
    ['one is refused of those that an earlier life asked for', REFUSED, true, true],
    [
      'one gets no address: the service may know all',
      new UploadError('ERR_UPLOAD_SERVICE_REPLY', 'None.'),
      false,
      true,
    ],
  ])('of which %s, are asked for one by one: the others go on, and only that one fails', async (...how) => {
    const [, error, wasAsked, isRepeat] = how
    const asked: [string, boolean][] = []
    const register: NonNullable<Protocol['register']> = (_session, plans, options) => {
      asked.push([plans.map(({ name }) => name).join(), options.isRepeat])
      if (plans.some(({ fileIndex }) => fileIndex === 2)) return Promise.reject(error)
      return Promise.resolve(plans.map(({ fileIndex, name }) => ({ fileIndex, addresses: [`https://s.test/${name}`] })))
    }
    const { job, record, signal } = await begunSession(memoryJournal(), { register }, 4)
    if (wasAsked) await record.write({ type: 'files.registering', fileIndexes: [1, 2, 3] })

    await job.replenish(signal)

    const each = ['1.c3d', '2.c3d', '3.c3d'].map((name) => [name, isRepeat])
    expect(asked).toEqual([['1.c3d,2.c3d,3.c3d', wasAsked], ...each])
    expect(job.ledger.files.map(({ state }) => state)).toEqual(['ready', 'ready', 'failed', 'ready'])
  })

  it.each([
    ['in a session that was given are not ours to overwrite', { sessionId: 's' }, false, false],
    ['there are ours all the same once an earlier life asked for them', { sessionId: 's' }, true, true],
    ['in a session of our own are ours: a line may deliver a call twice', {}, false, true],
  ])('that are refused for certain %s', async (_, params, wasAsked, isOurs) => {
    const how = { status: 409, details: { isDoubtful: false } }
    const register = () => Promise.reject(new HttpStatusError('ERR_UPLOAD_SERVICE_REFUSED', 'It is there.', how))
    const { job, record, signal } = await begunSession(memoryJournal(), { register }, 2, params)
    if (wasAsked) await record.write({ type: 'files.registering', fileIndexes: [1] })

    await job.replenish(signal)

    const { state, isRegistering } = fileAt(job.ledger, 1)
    expect([state, isRegistering]).toEqual(['failed', isOurs])
  })

  it('in a session that was given may be ours where their call was under way when that of another ended the upload', async () => {
    const { job } = await begunSession(
      memoryJournal(),
      { register: (_session, _plans, options) => unlessAborted(new Promise<never>(() => undefined), options.signal) },
      2,
      { sessionId: 's' },
    )
    const upload = new AbortController()
    const ended = expect(job.replenish(upload.signal)).rejects.toMatchObject({ code: UNHEARD.code })
    await turn()
    upload.abort(UNHEARD)

    await ended
    expect(fileAt(job.ledger, 1).isRegistering).toBe(true)
  })

  it('are refused the place of a file that an earlier life registered', async () => {
    const register = () => Promise.resolve([{ fileIndex: 1, addresses: ['https://s.test/0'] }])
    const { job, signal } = await begunSession(memoryJournal(), { register }, 2)

    await job.replenish(signal)

    const { state, error } = fileAt(job.ledger, 1)
    expect([state, error?.code]).toEqual(['failed', 'ERR_UPLOAD_SERVICE_REPLY'])
  })
})
