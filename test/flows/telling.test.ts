// What an upload tells its host: of addresses that will not live long enough, of its progress, and of each file.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { JOURNAL_VERSION } from '../../src/core/journal/journal.ts'
import type { PlannedFile } from '../../src/core/ports.ts'
import { createEmitter } from '../../src/flows/emitter.ts'
import { createSessionRecord } from '../../src/flows/session-record.ts'
import { createTelling } from '../../src/flows/telling.ts'
import type { UploadEvents, UploadFileStatus } from '../../src/flows/upload.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { CAPTURE, createFarEnd, expiredStorage, goodService, goodStorage, VIDEO } from '../security/far-end.ts'

const MB = 1_000_000
const HOUR_MS = 3_600_000
const PLAN: PlannedFile = { fileIndex: 0, name: 'a.mp4', sizeBytes: 1000 * MB, partSizeBytes: 1000 * MB, partCount: 1 }
const UNIT = { fileIndex: 0, partNumber: 1, start: 0, end: PLAN.sizeBytes }
const WALL_MS = Date.UTC(2026, 10, 22, 6)

/** An upload whose address was signed just now, by a clock that is off by so much, and lives for so long. `isDated`: it says so. */
async function uploading({
  lifeMs,
  skewMs = 0,
  isDated = true,
  isSignedInTurn = false,
}: {
  readonly lifeMs: number
  readonly skewMs?: number
  readonly isDated?: boolean
  readonly isSignedInTurn?: boolean
}) {
  const clock = createSimulatedClock({ wallStartMs: WALL_MS })
  const record = createSessionRecord(memoryJournal(), clock, 'k')
  const signed = new Date(WALL_MS + skewMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const deadline = isDated
    ? `X-Amz-Date=${signed}&X-Amz-Expires=${String(lifeMs / 1000)}`
    : `Expires=${String((WALL_MS + skewMs + lifeMs) / 1000)}`
  const address = `https://s.test/1?${deadline}&X-Amz-Signature=x`
  const begun = { version: JOURNAL_VERSION, key: 'k', flow: 'video', params: {}, files: [PLAN], locations: [] } as const
  await record.write({ type: 'session.begun', ...begun })
  const files = [{ fileIndex: 0, serverFileId: 'f', addresses: [address] }]
  await record.write({ type: 'session.created', sessionId: 's1', files: isSignedInTurn ? [] : files })
  if (isSignedInTurn) await record.write({ type: 'files.registered', files })
  const emitter = createEmitter<UploadEvents>()
  const told: UploadEvents['shortfall'][] = []
  emitter.on('shortfall', (event) => told.push(event))
  const telling = createTelling(emitter, clock, record)
  telling.begin()
  let sentBytes = 0

  /** Bytes move, four times a second. */
  async function move(forMs: number, bytesPerSecond: number): Promise<void> {
    for (let at = 0; at < forMs; at += 250) {
      await clock.advance(250)
      sentBytes += bytesPerSecond / 4
      telling.take({ type: 'sent', unit: UNIT, sentBytes })
    }
  }
  /** Nothing moves, and then the attempt is over. */
  async function stall(forMs: number): Promise<void> {
    await clock.advance(forMs)
    telling.take({ type: 'attemptEnded', unit: UNIT })
    sentBytes = 0
  }
  return { move, stall, told, record, telling, clock, emitter }
}

it('a shortfall is announced long before the addresses die, with the time that is needed and the time that there is', async () => {
  const { move, told } = await uploading({ lifeMs: HOUR_MS })

  await move(15_000, MB / 10)

  expect(told).toHaveLength(1)
  expect(told[0]).toMatchObject({ deadlineMs: WALL_MS + HOUR_MS })
  expect(told[0]?.neededMs).toBeGreaterThan(9_000_000)
  expect(told[0]?.availableMs).toBeGreaterThan(HOUR_MS - 16_000)
})

it.each([-2 * HOUR_MS, 2 * HOUR_MS])(
  'the signer’s clock may be off by %i ms: what counts is how long they live',
  async (skewMs) => {
    const enough = await uploading({ lifeMs: HOUR_MS, skewMs })
    await enough.move(30_000, MB)
    const short = await uploading({ lifeMs: HOUR_MS, skewMs })
    await short.move(30_000, MB / 10)

    expect(enough.told).toEqual([])
    // By the clock of the machine that shows it.
    expect(short.told).toMatchObject([{ deadlineMs: WALL_MS + HOUR_MS }])
  },
)

it('an address that our clock calls dead when it comes is no shortfall where nothing says when it was signed', async () => {
  const { move, told } = await uploading({ lifeMs: HOUR_MS, skewMs: -2 * HOUR_MS, isDated: false })
  await move(30_000, MB)

  expect(told).toEqual([])
})

it('addresses that are signed as the turn of their file comes are signed again when they die, which is no shortfall', async () => {
  const { move, told } = await uploading({ lifeMs: HOUR_MS, isSignedInTurn: true })
  await move(15_000, MB / 10)

  expect(told).toEqual([])
})

it('a new session is measured by its own addresses, and not by those that died', async () => {
  const { move, told, record, clock } = await uploading({ lifeMs: HOUR_MS })
  await move(20_000, MB)
  await clock.advance(HOUR_MS)

  const address = `https://s.test/2?Expires=${String((WALL_MS + 3 * HOUR_MS) / 1000)}&X-Amz-Signature=x`
  const files = [{ fileIndex: 0, serverFileId: 'f', addresses: [address] }]
  await record.write({ type: 'session.replaced', sessionId: 's2', files })
  await move(20_000, MB)

  expect(told).toEqual([])
})

it('a line that stalls and goes on is no shortfall, and one that comes afterwards is announced', async () => {
  const { move, stall, told } = await uploading({ lifeMs: HOUR_MS })

  await move(20_000, MB)
  await stall(60_000)
  await move(20_000, MB)
  expect(told).toEqual([])

  await move(60_000, MB / 10)
  expect(told).toHaveLength(1)
})

it('progress keeps what is confirmed where a service that was restored gives the id of the first session once more', async () => {
  const names = ['a.mp4', 'b.mp4']
  let creates = 0
  const { uplink, settled } = createFarEnd({
    concurrency: 1,
    service({ method }) {
      if (method !== 'POST') return { status: 200 }
      creates += 1
      const entries = names.slice(creates - 1).map((name) => {
        const url = `https://store.example/${String(creates)}/${name}`
        return { session_file_id: name, info: [{ url }] }
      })
      return { status: 200, body: { upload_session_id: 12, pre_signed_urls: entries } }
    },
    storage: (request, body) => (request.url.endsWith('1/b.mp4') ? expiredStorage : goodStorage)(request, body),
  })
  const files = names.map((name) => ({ source: bytesSource(name, new Uint8Array(3)) }))
  const upload = uplink.uploadVideos({ ...VIDEO, files })
  const replaced: unknown[] = []
  const nothing = { sentBytes: 0, confirmedBytes: 0, totalBytes: 0, bytesPerSecond: 0, remainingMs: undefined }
  expect(upload.progress()).toEqual({ ...nothing, filesConfirmed: 0, filesFailed: 0, filesTotal: 0 })
  upload.on('session.replaced', (event) => replaced.push(event))

  expect(await settled(upload.done())).toMatchObject({ status: 'confirmed' })
  expect(replaced).toEqual([{ oldSessionId: 12, newSessionId: 12, filesKept: 1, filesMoved: 1, bytesVoided: 0 }])
  expect(upload.progress()).toMatchObject({ sentBytes: 6, confirmedBytes: 6, filesConfirmed: 2, filesTotal: 2 })
})

it('progress counts what an earlier life delivered of a part, so that it ends at the total', async () => {
  const { record, telling, emitter } = await uploading({ lifeMs: HOUR_MS })
  const told: number[] = []
  emitter.on('progress', ({ confirmedBytes }) => told.push(confirmedBytes))
  const acceptedEnd = 400 * MB
  const at = { fileIndex: 0, partNumber: 1 }
  await record.write({ type: 'part.received', ...at, receipt: { acceptedEnd, isVerified: false } })

  telling.begin()
  // At once: the first byte of this life may be long in coming.
  expect(told).toEqual([acceptedEnd])
  expect(telling.progress()).toMatchObject({ confirmedBytes: acceptedEnd, sentBytes: acceptedEnd })
  telling.take({ type: 'received', unit: { ...UNIT, start: acceptedEnd } })

  expect(telling.progress()).toMatchObject({ confirmedBytes: PLAN.sizeBytes, sentBytes: PLAN.sizeBytes })
})

it('progress falls with the receipts that a new session voids, and not before that is told', async () => {
  const { record, telling, emitter } = await uploading({ lifeMs: HOUR_MS })
  const receipt = { acceptedEnd: PLAN.sizeBytes / 2, isVerified: false }
  await record.write({ type: 'part.received', fileIndex: 0, partNumber: 1, receipt })
  telling.begin()
  const told: unknown[] = []
  emitter.on('progress', ({ confirmedBytes, sentBytes }) => told.push([confirmedBytes, sentBytes]))
  emitter.on('session.replaced', () => told.push('replaced'))
  emitter.on('file', ({ state }) => told.push(state))
  const files = [{ fileIndex: 0, serverFileId: 'f', addresses: ['https://s.test/2'] }]
  telling.take({ type: 'fileState', file: record.ledger().files[0]! })
  await record.write({ type: 'session.replaced', sessionId: 's2', files })
  const moved = { oldSessionId: 's1', newSessionId: 's2', filesKept: 0, filesMoved: 1 }
  telling.tellReplaced({ ...moved, bytesVoided: receipt.acceptedEnd })

  expect(told).toEqual(['uploading', 'pending', 'replaced', [0, 0]])
})

it('an upload that is resumed shows at once what an earlier life delivered', async () => {
  const journal = memoryJournal()
  const session = await journal.open('k')
  const { movementTypeId, playerId, sessionDate, sessionTypeId } = VIDEO
  const params = { movementTypeId, playerId, sessionDate, sessionTypeId }
  const files = [{ ...PLAN, sizeBytes: 3, partSizeBytes: 3 }]
  const addressed = [{ fileIndex: 0, serverFileId: 'f', addresses: ['https://store.example/k'] }]
  const receipt = { acceptedEnd: 2, isVerified: false }
  await session.append([
    { at: 1, type: 'session.begun', version: JOURNAL_VERSION, key: 'k', flow: 'video', params, files, locations: [] },
    { at: 2, type: 'session.created', sessionId: 's1', files: addressed },
    { at: 3, type: 'part.received', fileIndex: 0, partNumber: 1, receipt },
  ])
  await session.close()
  const { uplink } = createFarEnd({ journal, service: () => ({ status: 200 }), storage: goodStorage })
  const upload = await uplink.resume('k', { source: () => bytesSource('a.mp4', new Uint8Array(3)) })

  expect(upload.progress()).toMatchObject({ confirmedBytes: 2, sentBytes: 2, totalBytes: 3, filesTotal: 1 })
})

it('a rate counts for the life of addresses once bytes have moved steadily, and stays while nothing moves', async () => {
  const { move, stall, telling } = await uploading({ lifeMs: HOUR_MS })
  await move(9_000, MB)
  expect(telling.bytesPerSecond()).toBe(0)

  await move(20_000, MB)
  expect(telling.bytesPerSecond()).toBeGreaterThan(MB / 2)
  await stall(60_000)
  expect(telling.bytesPerSecond()).toBeGreaterThan(MB / 2)
})

describe('progress is told a few times a second', () => {
  const send = (sentBytes: number) => ({ type: 'sent', unit: UNIT, sentBytes }) as const
  async function heard() {
    const rig = await uploading({ lifeMs: HOUR_MS })
    const sent: number[] = []
    rig.emitter.on('progress', ({ sentBytes }) => sent.push(sentBytes))
    await rig.clock.advance(1_000)
    return { ...rig, sent }
  }

  it('and where nothing follows, what came last is told too', async () => {
    const { telling, clock, sent } = await heard()

    for (const bytes of [1, 2, 3, 4]) telling.take(send(bytes))
    expect(sent).toEqual([1])
    await clock.advance(199)
    expect(sent).toEqual([1])
    await clock.advance(1)
    expect(sent).toEqual([1, 4])
    for (const bytes of [5, 6]) telling.take(send(bytes))
    await clock.advance(10_000)
    expect([sent, clock.pending]).toEqual([[1, 4, 6], 0])
  })

  it('without a timer that is left when all is told at once, or over', async () => {
    const { telling, clock, sent } = await heard()

    for (const bytes of [1, 2]) telling.take(send(bytes))
    telling.finish()
    expect([sent, clock.pending]).toEqual([[1, 2], 0])
  })
})

describe('a file is told of when its state is another one', () => {
  it('once for all its bytes, and again when its only attempt is lost', async () => {
    const { telling, emitter, record } = await uploading({ lifeMs: HOUR_MS })
    const states: string[] = []
    emitter.on('file', ({ state }) => states.push(state))

    // As it was from the beginning.
    telling.take({ type: 'attemptEnded', unit: UNIT })
    expect(states).toEqual([])
    for (const sentBytes of [1, 2]) telling.take({ type: 'sent', unit: UNIT, sentBytes })
    expect(states).toEqual(['uploading'])
    for (let ended = 0; ended < 2; ended += 1) telling.take({ type: 'attemptEnded', unit: UNIT })
    expect(states).toEqual(['uploading', 'pending'])
    for (const sentBytes of [1, 2]) telling.take({ type: 'sent', unit: UNIT, sentBytes })
    const error = { code: 'ERR_UPLOAD_SOURCE_READ', message: 'gone' } as const
    await record.write({ type: 'file.failed', fileIndex: 0, error })
    for (const file of record.ledger().files) telling.take({ type: 'fileState', file })
    expect(states).toEqual(['uploading', 'pending', 'uploading', 'failed'])
    expect(telling.files()).toMatchObject([{ state: 'failed', error }])
    expect(telling.progress()).toMatchObject({ filesFailed: 1 })
  })

  it('which is the one that files() shows, from its first byte to its end, in both flows', async () => {
    const names = ['a', 'b', 'c']
    let puts = 0
    const { uplink, settled } = createFarEnd({
      service: goodService((fileIndex) => `https://store.example/${String(fileIndex)}`),
      storage: (request, body) => ((puts += 1) === 2 ? { status: 500 } : goodStorage(request, body)),
    })
    const sources = (suffix: string) =>
      names.map((name) => ({ source: bytesSource(`${name}${suffix}`, new Uint8Array(7)) }))
    const lives: Record<string, string[]> = {}
    const uploads = [
      uplink.uploadVideos({ ...VIDEO, files: sources('.mp4') }),
      uplink.uploadCaptures({ ...CAPTURE, files: sources('.action') }),
    ]
    const shown: [UploadFileStatus, UploadFileStatus | undefined][] = []
    for (const upload of uploads)
      upload.on('file', (file) => {
        shown.push([file, upload.files()[file.fileIndex]])
        lives[file.name] = [...(lives[file.name] ?? []), file.state]
      })
    await settled(Promise.all(uploads.map((upload) => upload.done())))

    expect(shown.map(([told]) => told)).toEqual(shown.map(([, is]) => is))
    const retried = Object.values(lives).filter((states) => states[1] === 'pending')
    expect(retried).toHaveLength(1)
    for (const name of names) {
      const [video, capture] = [lives[`${name}.mp4`], lives[`${name}.action`]]
      expect(video?.slice(-3)).toEqual(['uploading', 'confirming', 'confirmed'])
      expect(capture?.slice(-2)).toEqual(['uploading', 'confirmed'])
    }
  })
})
