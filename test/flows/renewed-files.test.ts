// What a renewal asks for, takes and tells: of the host that signs again, and of a session that takes over files of another.

import { expect, it } from 'vitest'

import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { HttpStatusError, UploadError } from '../../src/core/errors.ts'
import { JOURNAL_VERSION } from '../../src/core/journal/journal.ts'
import { fileAt } from '../../src/core/journal/ledger.ts'
import type { AddressedFile, PlannedFile, Protocol } from '../../src/core/ports.ts'
import type { RenewAddresses } from '../../src/flows/renewal.ts'
import { createSessionJob } from '../../src/flows/session-job.ts'
import { createSessionRecord, type SessionRecord } from '../../src/flows/session-record.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const EXPIRED = new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', 'It has expired.')
const GONE = new HttpStatusError('ERR_UPLOAD_ADDRESS_REFUSED', 'It is gone.', {
  status: 404,
  serviceCode: 'NoSuchUpload',
})
const RECEIPT = { acceptedEnd: 3, etag: '"e"', isVerified: true }

/** A session of several files, whose addresses can be found dead; what is told when another session takes them. */
async function several({
  count = 4,
  isOrphanPossible,
  duringCreate,
  renewAddresses,
  register,
}: {
  readonly count?: number
  readonly isOrphanPossible?: boolean
  readonly duringCreate?: (record: SessionRecord) => Promise<void> | undefined
  readonly renewAddresses?: RenewAddresses
  readonly register?: Protocol['register']
} = {}) {
  const clock = createSimulatedClock()
  const record = createSessionRecord(memoryJournal(), clock, 'k')
  const [asked, told]: [number[][], unknown[]] = [[], []]
  const addressed = ({ fileIndex }: PlannedFile): AddressedFile => ({
    ...{ fileIndex, serverFileId: `${asked.length}-${fileIndex}` },
    addresses: [1, 2].map((part) => `https://s.test/${asked.length}/${fileIndex}/${part}?sig=x`),
  })
  const protocol = {
    ...{ traits: { addressing: 'session' }, request: () => ({ method: 'PUT', headers: {} }), register },
    confirm: () => Promise.resolve(),
    async create(plans: readonly PlannedFile[]) {
      asked.push(plans.map(({ fileIndex }) => fileIndex))
      await duringCreate?.(record)
      const created = { sessionId: `s${asked.length}`, files: plans.map(addressed) }
      return isOrphanPossible ? { ...created, hasPossibleOrphan: true } : created
    },
  } as unknown as Protocol
  const files = Array.from({ length: count }, (_, fileIndex): PlannedFile => {
    return { fileIndex, name: `${fileIndex}.mp4`, sizeBytes: 6, partSizeBytes: 3, partCount: 2 }
  })
  const begun = { version: JOURNAL_VERSION, key: 'k', flow: 'video', params: {}, files, locations: [] } as const
  await record.write({ type: 'session.begun', ...begun })
  const created = { sessionId: 's0', files: files.map(addressed) }
  if (!register) await record.write({ type: 'session.created', ...created })
  else {
    await record.write({ type: 'session.created', sessionId: 's0' })
    await record.write({ type: 'files.registered', files: created.files })
  }
  const job = createSessionJob({
    ...{ record, protocol, clock, renewAddresses, addressPolicy: (host: string) => host === 's.test' },
    ...{ bytesPerSecond: () => 0, report: () => undefined },
    onReplaced: (event, hasPossibleOrphan) => told.push({ ...event, hasPossibleOrphan }),
    source: () => {
      throw new Error('Nothing is read.')
    },
  })
  const receive = async (fileIndex: number, partNumber: number): Promise<void> => {
    const acceptedEnd = 3 * partNumber
    await record.write({ type: 'part.received', fileIndex, partNumber, receipt: { ...RECEIPT, acceptedEnd } })
  }
  const renew = (fileIndex: number, error: UploadError = EXPIRED): Promise<boolean> => {
    const { signal } = new AbortController()
    return job.renew(fileAt(record.ledger(), fileIndex), { isDead: true, error, lifeMs: undefined, signal })
  }
  return { record, asked, told, receive, renew, file: (index: number) => fileAt(record.ledger(), index) }
}

it('moves the files that are unfinished then, and tells what that cost, whatever came while the new session was made', async () => {
  const { record, asked, told, receive, renew, file } = await several({
    duringCreate: (own) =>
      own.write({
        ...{ type: 'part.received', fileIndex: 3, partNumber: 2 },
        receipt: { ...RECEIPT, acceptedEnd: 6 },
      }),
  })
  for (const [fileIndex, partNumber] of [
    [0, 1],
    [0, 2],
    [1, 2],
    [3, 1],
  ] as const)
    await receive(fileIndex, partNumber)

  expect(await renew(2)).toBe(true)

  expect(asked).toEqual([[1, 2, 3]])
  expect(told).toEqual([
    {
      ...{ oldSessionId: 's0', newSessionId: 's1', filesMoved: 2, filesKept: 2, bytesVoided: 3 },
      hasPossibleOrphan: false,
    },
  ])
  expect([0, 1, 2, 3].map((index) => [file(index).sessionId, file(index).receivedCount])).toEqual([
    ['s0', 2],
    ['s1', 0],
    ['s1', 0],
    ['s0', 2],
  ])
  expect(record.folded()?.hasPossibleOrphan).toBe(false)
})

it('leaves what an earlier renewal has moved where it is, when a file of the old session goes again after all', async () => {
  const { record, asked, told, receive, renew, file } = await several({ count: 3 })
  await receive(2, 1)
  await receive(2, 2)
  expect(await renew(0)).toBe(true)
  const receipt = { ...RECEIPT, acceptedEnd: 3 }
  await record.write({ type: 'part.received', fileIndex: 0, partNumber: 1, generation: 1, receipt })
  await record.write({ type: 'parts.voided', fileIndex: 2, partNumbers: [2] })

  expect(await renew(2)).toBe(true)

  expect(asked).toEqual([[0, 1], [2]])
  expect(told.at(-1)).toMatchObject({ oldSessionId: 's0', filesMoved: 1, filesKept: 2, bytesVoided: 3 })
  expect([0, 1, 2].map((index) => [file(index).sessionId, file(index).receivedCount])).toEqual([
    ['s1', 1],
    ['s1', 0],
    ['s2', 0],
  ])
})

it('tells and keeps that the create of a new session may have left another one', async () => {
  const { record, told, renew } = await several({ isOrphanPossible: true })

  expect(await renew(0)).toBe(true)

  expect(told).toMatchObject([{ filesMoved: 4, filesKept: 0, hasPossibleOrphan: true }])
  expect(record.folded()?.hasPossibleOrphan).toBe(true)
})

it('moves alone a file with an upload of its own, and tells of the session that it leaves, not of the newest', async () => {
  const { record, asked, told, renew } = await several({ register: () => Promise.reject(new Error('Never called.')) })

  expect([await renew(1, GONE), await renew(2, GONE)]).toEqual([true, true])
  await record.write({ type: 'part.received', fileIndex: 1, partNumber: 1, generation: 1, receipt: RECEIPT })
  expect(await renew(1, GONE)).toBe(true)

  expect(asked).toEqual([[1], [2], [1]])
  expect(told).toMatchObject([
    { oldSessionId: 's0', newSessionId: 's1', filesMoved: 1, filesKept: 3 },
    { oldSessionId: 's0', newSessionId: 's2' },
    { oldSessionId: 's1', newSessionId: 's3' },
  ])
})

it('asks the host for the parts without a receipt, in the session and under the id that the file has by then', async () => {
  const requests: unknown[] = []
  const { record, receive, renew, file } = await several({
    renewAddresses(request) {
      requests.push(request)
      return Promise.resolve(['https://s.test/new/2?sig=y'])
    },
  })
  const moved = {
    fileIndex: 1,
    serverFileId: 'id-9',
    addresses: ['https://s.test/9/1?sig=x', 'https://s.test/9/2?sig=x'],
  }
  await record.write({ type: 'session.replaced', sessionId: 's9', files: [moved] })
  await record.write({ type: 'session.replaced', sessionId: 's10', files: [{ ...moved, fileIndex: 2 }] })
  await record.write({ type: 'part.received', fileIndex: 1, partNumber: 1, generation: 1, receipt: RECEIPT })
  await receive(0, 1)

  expect(await renew(1)).toBe(true)

  expect(requests).toEqual([{ sessionId: 's9', serverFileId: 'id-9', fileName: '1.mp4', partNumbers: [2] }])
  expect(file(1)).toMatchObject({
    ...{ serverFileId: 'id-9', sessionId: 's9', receivedCount: 1 },
    addresses: ['https://s.test/9/1?sig=x', 'https://s.test/new/2?sig=y'],
  })
})

const own = new UploadError('ERR_UPLOAD_SERVICE_REFUSED', 'It is not signed any more.')
const SERVICE_REPLY = 'ERR_UPLOAD_SERVICE_REPLY'
it.each([
  ['none at all', () => undefined as never, { code: SERVICE_REPLY, message: /gave no addresses for the 2 parts/ }],
  ['too few', () => ['https://s.test/a/1'], { code: SERVICE_REPLY, message: /gave 1 addresses for the 2 parts/ }],
  ['one twice', () => ['https://s.test/a', 'https://s.test/a'], { code: SERVICE_REPLY, message: /came twice/ }],
  [
    'insecure ones',
    () => ['http://s.test/1', 'http://s.test/2'],
    { code: 'ERR_UPLOAD_INSECURE_URL', message: /http/i },
  ],
  [
    'those of a host that is not allowed',
    () => ['https://t.test/1', 'https://t.test/2'],
    { code: 'ERR_UPLOAD_INSECURE_URL', message: /t\.test/ },
  ],
  ['an error that is one of ours', () => Promise.reject(own), own],
])(
  'takes from the host that signs again no other answer than it asked for: %s',
  async (_, answer, { code, message }) => {
    const { renew, file } = await several({ renewAddresses: async () => answer() })
    const { addresses } = file(0)

    await expect(renew(0)).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string })
    expect(file(0).addresses).toBe(addresses)
  },
)
