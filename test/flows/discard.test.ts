// Letting go of what is left of an upload: what is confirmed stays, in every session of the service that holds some of it.

import { expect, it } from 'vitest'

import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { UploadError, type UploadErrorCode } from '../../src/core/errors.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import type { Journal } from '../../src/core/ports.ts'
import { createFarEnd, goodService, goodStorage, VIDEO } from '../security/far-end.ts'
import { noWay } from './outage-rig.ts'

const FILES = ['a.mp4', 'b.mp4'].map((name, fileIndex) => ({
  fileIndex,
  name,
  sizeBytes: 3,
  partSizeBytes: 3,
  partCount: 1,
}))
const { movementTypeId, playerId, sessionDate, sessionTypeId } = VIDEO
const params = { movementTypeId, playerId, sessionDate, sessionTypeId }
const addressed = (fileIndex: number) => ({
  fileIndex,
  serverFileId: fileIndex,
  addresses: ['https://store.example/k'],
})
const BEGUN: readonly JournalRecord[] = [
  {
    at: 1,
    type: 'session.begun',
    version: JOURNAL_VERSION,
    key: 'k',
    flow: 'video',
    params,
    files: FILES,
    locations: [],
  },
  { at: 2, type: 'session.created', sessionId: 's1', files: [addressed(0), addressed(1)] },
]
const received = (fileIndex: number): JournalRecord => {
  const receipt = { acceptedEnd: 3, etag: '"e"', isVerified: true }
  return { at: 3, type: 'part.received', fileIndex, partNumber: 1, receipt }
}
const FIRST_CONFIRMED: readonly JournalRecord[] = [
  ...BEGUN,
  received(0),
  { at: 4, type: 'file.confirmed', fileIndex: 0 },
]
/** And the second one went on to another session. */
const REPLACED: readonly JournalRecord[] = [
  ...FIRST_CONFIRMED,
  { at: 5, type: 'session.replaced', sessionId: 's2', files: [addressed(1)] },
]
/** Asked for, and no answer is known: the service may have confirmed it. */
const CONFIRMING: readonly JournalRecord[] = [...BEGUN, received(0), { at: 4, type: 'file.confirming', fileIndex: 0 }]
const failed = (code: UploadErrorCode): JournalRecord => {
  return { at: 5, type: 'file.failed', fileIndex: 0, error: { code, message: 'It failed.' } }
}
const CONFIRM_UNANSWERED: readonly JournalRecord[] = [...CONFIRMING, failed('ERR_UPLOAD_RETRIES_EXHAUSTED')]
const CANCELLED_WHOLE: readonly JournalRecord[] = [
  ...FIRST_CONFIRMED,
  { at: 6, type: 'session.cancelling' },
  { at: 7, type: 'session.cancelled', isServiceTold: false },
  { at: 8, type: 'session.settled', status: 'cancelled' },
]

/** An Uplink with this history; `told` are the sessions that the service was asked to end. */
async function uplinkAt(records: readonly JournalRecord[], answer = (): number => 200) {
  const told: string[] = []
  const journal = memoryJournal()
  const session = await journal.open('k')
  await session.append(records)
  await session.close()
  const far = createFarEnd({
    journal,
    storage: goodStorage,
    service({ method, url }) {
      if (method !== 'DELETE') return { status: 500 }
      told.push(url.slice(url.lastIndexOf('/') + 1))
      return { status: answer() }
    },
  })
  return { told, ...far }
}

it.each([
  ['stays, and nobody is told of its session', FIRST_CONFIRMED, [], false, true],
  ['stays, and the session that took over is ended', REPLACED, ['s2'], true, true],
  ['may be a file whose confirmation is not answered', CONFIRMING, [], false, true],
  ['may be a file that failed without an answer to it', CONFIRM_UNANSWERED, [], false, true],
  [
    'may still be it when it is tried again',
    [...CONFIRM_UNANSWERED, { at: 6, type: 'session.resumed' } as const],
    ...([[], false, true] as const),
  ],
  [
    'is nothing where the confirmation was refused',
    [...CONFIRMING, failed('ERR_UPLOAD_CONFIRM_REFUSED')],
    ...([['s1'], true, undefined] as const),
  ],
  ['is nothing: the session is ended as by a cancel', BEGUN, ['s1'], true, undefined],
  ['may be gone already where it was to be given up with the rest', CANCELLED_WHOLE, ['s1'], true, undefined],
] as const)('what is confirmed %s', async (_, records, ended, isServiceTold, keepsConfirmed) => {
  const { uplink, told, settled } = await uplinkAt(records)

  const report = await settled(uplink.discardSession('k'))

  expect(report).toMatchObject({ status: 'cancelled', isServiceTold })
  expect(report.keepsConfirmed).toBe(keepsConfirmed)
  expect(told).toEqual(ended)
  // It is over, its receipt is kept, and nothing is to be told later of what stays.
  const expected = ended.length > 0 && keepsConfirmed === undefined ? ['s1'] : [...ended]
  expect(await uplink.sessions()).toMatchObject([{ status: 'cancelled', sessionIds: expected }])
  expect((await uplink.receipt('k')).files).toHaveLength(2)
})

it('stays so when it is repeated until the service was told; a cancel after it gives all up', async () => {
  let status = 409
  const { uplink, told, settled } = await uplinkAt(REPLACED, () => status)

  expect(await settled(uplink.discardSession('k'))).toMatchObject({ isServiceTold: false, keepsConfirmed: true })
  status = 200
  expect(await settled(uplink.discardSession('k'))).toMatchObject({ isServiceTold: true, keepsConfirmed: true })
  expect(told).toEqual(['s2', 's2'])
  const cancelled = await settled(uplink.cancelSession('k'))

  expect(told.slice(2).toSorted()).toEqual(['s1', 's2'])
  expect(cancelled.keepsConfirmed).toBeUndefined()
})

it('is told by a later life what was to stay, when this one dies before the service is told', async () => {
  const { uplink, told, settled } = await uplinkAt([
    ...REPLACED,
    { at: 6, type: 'session.cancelling', keepsConfirmed: true },
  ])

  await settled(uplink.discardSession('k'))

  expect(told).toEqual(['s2'])
})

it('changes nothing of an upload that another one has finished meanwhile', async () => {
  const { uplink, told, settled } = await uplinkAt([
    ...FIRST_CONFIRMED,
    received(1),
    { at: 5, type: 'file.confirmed', fileIndex: 1 },
    { at: 6, type: 'session.settled', status: 'confirmed' },
  ])

  expect(await settled(uplink.discardSession('k'))).toMatchObject({ status: 'confirmed' })
  expect([told, (await uplink.sessions())[0]?.status]).toEqual([[], 'confirmed'])
})

/** An upload of two files, of which the first is confirmed and the second gets no answer. */
async function halfConfirmed(journal: Journal = memoryJournal()) {
  const told: string[] = []
  const urls = ['https://store.example/a', 'https://store.example/b']
  const entries = urls.map((url, index) => ({ session_file_id: `f${String(index)}`, info: [{ url }] }))
  const { uplink, settled } = createFarEnd({
    journal,
    storage: (request, body) => (request.url.endsWith('/b') ? undefined : goodStorage(request, body)),
    service({ method, url }) {
      if (method === 'DELETE') told.push(url.slice(url.lastIndexOf('/') + 1))
      return { status: 200, body: { upload_session_id: 's1', pre_signed_urls: entries } }
    },
  })
  const files = ['a.mp4', 'b.mp4'].map((name) => ({ source: bytesSource(name, new Uint8Array([1, 2, 3])) }))
  const upload = uplink.uploadVideos({ ...VIDEO, files })
  const confirmed = new Promise<void>((resolve) => {
    upload.on('file', ({ state }) => state === 'confirmed' && resolve())
  })
  await settled(confirmed)
  return { uplink, upload, told, settled }
}

it.each(['discard', 'cancel'] as const)('while it runs: the first of discard and cancel counts (%s)', async (first) => {
  const { upload, told, settled } = await halfConfirmed()

  const ends = first === 'discard' ? [upload.discard(), upload.cancel()] : [upload.cancel(), upload.discard()]
  const [report] = await settled(Promise.all(ends))

  expect(report).toMatchObject({ status: 'cancelled', files: [{ status: 'confirmed' }, { status: 'unfinished' }] })
  expect([report?.keepsConfirmed, told]).toEqual(first === 'discard' ? [true, []] : [undefined, ['s1']])
})

it('stays where the journal cannot keep that the rest is discarded, though it could not keep what stays either', async () => {
  const journal = memoryJournal()
  let isFull = true
  const open: Journal['open'] = async (key) => {
    const session = await journal.open(key)
    return {
      ...session,
      append(records) {
        if (!isFull || records[0]?.type !== 'session.cancelling') return session.append(records)
        isFull = false
        return Promise.reject(new UploadError('ERR_UPLOAD_JOURNAL', 'The disk is full.'))
      },
    }
  }
  const { uplink, upload, told, settled } = await halfConfirmed({ ...journal, open })

  const report = await settled(upload.discard())

  expect(report).toMatchObject({ status: 'cancelled', isServiceTold: false, error: { code: 'ERR_UPLOAD_JOURNAL' } })
  expect(await uplink.sessions()).toMatchObject([{ status: 'open' }])
  expect(await settled(uplink.discardSession(upload.key))).toMatchObject({ status: 'cancelled', keepsConfirmed: true })
  expect(told).toEqual([])
})

it.each(['as it is to begin', 'while it rests', 'after one that was lost'] as const)(
  'a file is not kept for a confirmation that nobody heard, only for one that may have been (%s)',
  async (when) => {
    const told: string[] = []
    let confirms = 0
    const service = goodService(() => 'https://store.example/a')
    const { uplink, clock, settled } = createFarEnd({
      storage: goodStorage,
      service(request, body) {
        if (request.method === 'DELETE') told.push(request.url.slice(request.url.lastIndexOf('/') + 1))
        if (request.method !== 'PATCH') return service(request, body)
        confirms += 1
        return when === 'after one that was lost' && confirms === 1 ? undefined : noWay()
      },
    })
    const files = [{ source: bytesSource('a.mp4', new Uint8Array(3)) }]
    const upload = uplink.uploadVideos({ ...VIDEO, files })
    upload.on('file', ({ state }) => {
      if (state === 'confirming' && when === 'as it is to begin') void upload.discard()
    })
    await clock.advance(60_000)
    const report = await settled(upload.discard())

    const isKept = when === 'after one that was lost'
    expect(report).toMatchObject({ status: 'cancelled', files: [{ status: 'unfinished' }], isServiceTold: !isKept })
    expect([told, report.keepsConfirmed]).toEqual(isKept ? [[], true] : [['s-1'], undefined])
  },
)

it.each([
  ['never heard', noWay, 'HOST_UNREACHABLE'],
  ['refused with the credentials', () => ({ status: 401 }), 'CREDENTIALS_REFUSED'],
  ['redirected', () => ({ status: 302 }), 'REDIRECT_REFUSED'],
])('a file is not kept either for a confirmation that was %s, once the upload is over', async (_, answer, code) => {
  const told: string[] = []
  const service = goodService(() => 'https://store.example/a')
  const { uplink, settled } = createFarEnd({
    giveUpAfterMs: 60_000,
    storage: goodStorage,
    service(request, body) {
      if (request.method === 'DELETE') told.push(request.url.slice(request.url.lastIndexOf('/') + 1))
      return request.method === 'PATCH' ? answer() : service(request, body)
    },
  })
  const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source: bytesSource('a.mp4', new Uint8Array(3)) }] })
  await expect(settled(upload.done())).rejects.toMatchObject({ code: `ERR_UPLOAD_${code}` })

  const report = await settled(uplink.discardSession(upload.key))

  expect([report.isServiceTold, report.keepsConfirmed, told]).toEqual([true, undefined, ['s-1']])
})
