// Giving a session up once more, after a life that may have told the service and never heard its answer.

import { expect, it, vi } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import type { Transport } from '../../src/core/ports.ts'
import { createUplink } from '../../src/index.ts'
import { createSimulatedClock, type SimulatedClock } from '../helpers/simulated-clock.ts'
import { createFarEnd, goodService, goodStorage, VIDEO } from '../security/far-end.ts'

const PLAN = { fileIndex: 0, name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
const params = { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 }
const CREATED: readonly JournalRecord[] = [
  {
    at: 1,
    type: 'session.begun',
    version: JOURNAL_VERSION,
    key: 'k',
    flow: 'video',
    params,
    files: [PLAN],
    locations: [],
  },
  { at: 2, type: 'session.created', sessionId: 's1', files: [{ fileIndex: 0, addresses: ['https://s.test/1'] }] },
]

/** Cancels a session of this history at a service that knows no such session. */
async function cancelGone(records: readonly JournalRecord[]): Promise<boolean | undefined> {
  return (await cancelAt(records, () => 404)).isServiceTold
}

/** Cancels a session of this history at a service that answers so to the cancel of each session. */
async function cancelAt(records: readonly JournalRecord[], status: (sessionId: string) => number) {
  const { uplink, told } = await uplinkAt(records, (sessionId) => Promise.resolve(status(sessionId)))
  return { ...(await uplink.cancelSession('k')), told }
}

/** An Uplink with this history at a service that answers so to the cancel of each session. */
async function uplinkAt(
  records: readonly JournalRecord[],
  status: (sessionId: string) => Promise<number>,
  clock: SimulatedClock = createSimulatedClock(),
) {
  const told: string[] = []
  const journal = memoryJournal()
  const session = await journal.open('k')
  await session.append(records)
  await session.close()
  const transport: Transport = {
    async send({ method, url, signal }) {
      const sessionId = url.slice(url.lastIndexOf('/') + 1)
      told.push(`${method} ${sessionId}`)
      const gone = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
      return {
        status: await Promise.race([status(sessionId), gone]),
        headers: {},
        body: new Uint8Array(),
        isBodyCut: false,
      }
    },
    endingOf: () => 'neverWhole',
    close: () => Promise.resolve(),
  }
  const uplink = createUplink(
    { baseUrl: 'https://service.test', credentials: { apiKey: 'key' } },
    { transport, journal, clock, random: () => 0.5 },
  )
  return { uplink, told, journal }
}

it.each([
  ['was told by nobody before', CREATED, false],
  ['may have been told by a life that died', [...CREATED, { at: 3, type: 'session.cancelling' }], true],
  [
    'may have been told although no answer came',
    [
      ...CREATED,
      { at: 3, type: 'session.cancelling' },
      { at: 4, type: 'session.cancelled', isServiceTold: false },
      { at: 5, type: 'session.settled', status: 'cancelled' },
    ],
    true,
  ],
] as const)('takes a session that is gone for cancelled only where it %s', async (_, records, isTold) => {
  expect(await cancelGone(records)).toBe(isTold)
})

const FILES = [PLAN, { ...PLAN, fileIndex: 1, name: 'b.mp4' }]
const addressed = (fileIndex: number) => ({
  fileIndex,
  serverFileId: fileIndex,
  addresses: [`https://s.test/${fileIndex}`],
})
/** The first file is confirmed in the first session, the second one went on to another. */
const REPLACED: readonly JournalRecord[] = [
  { ...CREATED[0]!, files: FILES } as JournalRecord,
  { at: 2, type: 'session.created', sessionId: 's1', files: [addressed(0), addressed(1)] },
  {
    at: 3,
    type: 'part.received',
    fileIndex: 0,
    partNumber: 1,
    receipt: { acceptedEnd: 3, etag: '"e"', isVerified: true },
  },
  { at: 4, type: 'file.confirmed', fileIndex: 0 },
  { at: 5, type: 'session.replaced', sessionId: 's2', files: [addressed(1)] },
]

const ANSWERS = [
  ['all were told', () => 200, true],
  ['the one that was left is gone', (sessionId: string) => (sessionId === 's1' ? 404 : 200), true],
  ['one refuses', (sessionId: string) => (sessionId === 's1' ? 409 : 200), false],
  ['the newest is not known', (sessionId: string) => (sessionId === 's2' ? 404 : 200), false],
] as const

it.each(ANSWERS)('gives up every session that holds files of the upload: %s', async (_, status, isServiceTold) => {
  const report = await cancelAt(REPLACED, status)

  expect(report).toMatchObject({ status: 'cancelled', sessionId: 's2', isServiceTold })
  expect([...new Set(report.told)].sort()).toEqual(['DELETE s1', 'DELETE s2'])
})

/** Its only file is confirmed in a second session; nobody is known to have told the service of the first. */
const LEFT: readonly JournalRecord[] = [
  ...CREATED,
  { at: 3, type: 'session.replaced', sessionId: 's2', files: [addressed(0)] },
  { ...REPLACED[2]!, at: 4, generation: 1 } as JournalRecord,
]

it('ends with an upload that is given up the session that its files have left', async () => {
  const report = await cancelAt(LEFT, () => 200)

  expect(report.isServiceTold).toBe(true)
  expect(report.told.toSorted()).toEqual(['DELETE s1', 'DELETE s2'])
})

it('asks for the end of each session once, and says why it was not told', async () => {
  const report = await cancelAt(LEFT, () => 409)

  expect(report).toMatchObject({ isServiceTold: false, error: { code: 'ERR_UPLOAD_SERVICE_REFUSED' } })
  expect(report.told.toSorted()).toEqual(['DELETE s1', 'DELETE s2'])
})

it('tells the service in a later life of a session that was left, also where all is confirmed', async () => {
  const done: JournalRecord[] = [
    { at: 5, type: 'file.confirmed', fileIndex: 0 },
    { at: 6, type: 'session.settled', status: 'confirmed' },
  ]
  let status = 409
  const { uplink, told } = await uplinkAt([...LEFT, ...done], () => Promise.resolve(status))
  const left = async () => (await uplink.sessions())[0]?.leftSessionIds

  await (await uplink.resume('k')).done()
  expect([told, await left()]).toEqual([['DELETE s1'], ['s1']])
  status = 200
  await (await uplink.resume('k')).done()
  expect([told, await left()]).toEqual([['DELETE s1', 'DELETE s1'], []])
  await (await uplink.resume('k')).done()
  expect(told.length).toBe(2)
})

it('does not count the sleep of the machine as time in which the service could be told', async () => {
  const clock = createSimulatedClock()
  let answer: (status: number) => void = () => undefined
  const answered = () => new Promise<number>((resolve) => (answer = resolve))
  const { uplink } = await uplinkAt(CREATED, answered, clock)
  const cancelled = uplink.cancelSession('k')

  await clock.advance(10_000)
  clock.suspend(8 * 3_600_000)
  await clock.advance(10_000)
  answer(200)

  expect((await cancelled).isServiceTold).toBe(true)
})

it('is not what a forgotten session gets: nobody is told, and it is known no more', async () => {
  const { uplink, told } = await uplinkAt(CREATED, () => Promise.resolve(200))

  await uplink.forgetSession('k')

  expect([await uplink.sessions(), told]).toEqual([[], []])
  await expect(uplink.resume('k')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
})

it('is on record before the service is told of it: a death in between forgets no cancel', async () => {
  const known: string[] = []
  const { uplink, told, journal } = await uplinkAt(CREATED, async () => {
    for (const { type } of await journal.read('k')) known.push(type)
    return 200
  })
  const never = (): Promise<never> => new Promise(() => undefined)
  const dispose = vi.fn(() => Promise.resolve())
  const upload = await uplink.resume('k', { source: ({ name }) => ({ name, describe: never, open: never, dispose }) })

  const { isServiceTold } = await upload.cancel()

  expect([told, isServiceTold]).toEqual([['DELETE s1'], true])
  // A later life need not tell the service again.
  expect(await uplink.sessions()).toMatchObject([{ status: 'cancelled', isServiceTold: true }])
  // And nothing is left of its sources, such as what was spooled.
  expect(dispose).toHaveBeenCalledOnce()
  expect(known).toContain('session.cancelling')
})

it.each([404, 410])(
  'takes no %d for a yes the first time: it may be that of a gateway without this call',
  async (status) => {
    const service = goodService((fileIndex) => `https://store.example/${fileIndex}`)
    const { uplink, clock } = createFarEnd({
      service: (request, body) => (request.method === 'DELETE' ? { status } : service(request, body)),
      storage: goodStorage,
    })
    const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source: bytesSource('a.mp4', new Uint8Array(7)) }] })
    const cancelling = new Promise<void>((resolve) => {
      upload.on('state', ({ state }) => {
        if (state !== 'uploading') return
        void upload.cancel()
        resolve()
      })
    })
    await clock.advance(0)
    await cancelling
    await clock.advance(60_000)

    const { isServiceTold, status: ended, error } = await upload.cancel()
    expect([ended, isServiceTold, error?.code]).toEqual(['cancelled', false, 'ERR_UPLOAD_SERVICE_REFUSED'])
  },
)
