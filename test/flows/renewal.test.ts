// When a storage refuses addresses that should live: how often it is doubted, when the file moves, when it is believed.

import { expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { HttpStatusError, TransportError, UploadError } from '../../src/core/errors.ts'
import { JOURNAL_VERSION } from '../../src/core/journal/journal.ts'
import { fileAt } from '../../src/core/journal/ledger.ts'
import type { AddressedFile, PlannedFile, Protocol } from '../../src/core/ports.ts'
import type { RenewAddresses } from '../../src/flows/renewal.ts'
import { createSessionJob } from '../../src/flows/session-job.ts'
import { createSessionRecord, type SessionRecord } from '../../src/flows/session-record.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { CAPTURE, createFarEnd, goodStorage, VIDEO, type Answer } from '../security/far-end.ts'

const PLAN: PlannedFile = {
  fileIndex: 0,
  name: 'a.mp4',
  sizeBytes: 6,
  partSizeBytes: 3,
  partCount: 2,
}
const EXPIRED = new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', 'It has expired.')
const REFUSED = new UploadError('ERR_UPLOAD_ADDRESS_REFUSED', 'It is refused.')
const GONE = new HttpStatusError('ERR_UPLOAD_ADDRESS_REFUSED', 'It is gone.', {
  status: 404,
  serviceCode: 'NoSuchUpload',
})
const RECEIPT = { acceptedEnd: 3, etag: '"e"', isVerified: true }

/** A session of one file; what its storage's refusals lead to. */
async function refused(
  cancel: (sessionId: string | number) => Promise<void> = () => Promise.resolve(),
  {
    lifeMs,
    renewAddresses,
    register,
  }: {
    readonly lifeMs?: number
    readonly renewAddresses?: RenewAddresses
    readonly register?: Protocol['register']
  } = {},
) {
  const clock = createSimulatedClock()
  const record = createSessionRecord(memoryJournal(), clock, 'k')
  let sessions = 0
  const addressed = (): AddressedFile[] => [
    { fileIndex: 0, addresses: [1, 2].map((part) => `https://s.test/${sessions}/${part}?sig=x`) },
  ]
  const protocol = {
    ...{ traits: { addressing: 'session' }, request: () => ({ method: 'PUT', headers: {} }), cancel },
    create: () => Promise.resolve({ sessionId: `s${++sessions}`, files: addressed() }),
    register,
  } as unknown as Protocol
  const begun = { version: JOURNAL_VERSION, key: 'k', flow: 'video', params: {}, files: [PLAN], locations: [] } as const
  await record.write({ type: 'session.begun', ...begun })
  await record.write({ type: 'session.created', ...(await protocol.create([PLAN], new AbortController().signal)) })
  const start = () =>
    createSessionJob({
      ...{ record, protocol, clock, renewAddresses },
      ...{ bytesPerSecond: () => 0, onReplaced: () => undefined, report: () => undefined },
      source: () => {
        throw new Error('Nothing is read.')
      },
    })
  let job = start()
  /** Goes on with the next transfer. */
  const next = (): void => void (job = start())

  const renew = (error: UploadError, isDead = false): Promise<boolean> =>
    job.renew(fileAt(record.ledger(), 0), { isDead, error, lifeMs, signal: new AbortController().signal })
  /** Refuses the file's addresses so often; whether they were taken for renewed each time. */
  async function refuse(times: number, isExpired = false): Promise<boolean[]> {
    const answers: boolean[] = []
    for (let time = 0; time < times; time += 1) {
      const signal = new AbortController().signal
      const file = fileAt(record.ledger(), 0)
      const { generation } = file
      const answer = job.renew(file, { isDead: false, error: isExpired ? EXPIRED : REFUSED, lifeMs, signal })
      answer.catch(() => undefined)
      await clock.advance(10_000)
      answers.push(await answer)
      if (file.generation > generation) await job.moved?.()
    }
    return answers
  }
  /** Finds the file's addresses dead by the storage's time, a moment after they came. */
  const findDead = (signal = new AbortController().signal): Promise<boolean> =>
    job.renew(fileAt(record.ledger(), 0), { isDead: true, error: EXPIRED, lifeMs, signal })
  const left = () => record.folded()?.leftSessionIds
  return { clock, record, renew, refuse, findDead, next, left, sessions: () => sessions }
}

it('tries a refused address again after one second, then two, then three', async () => {
  const { clock, record, renew } = await refused()
  const pauses: number[] = []
  for (let time = 0; time < 3; time += 1) {
    const beganAtMs = clock.monotonicNow()
    const answer = renew(REFUSED).then(() => pauses.push(clock.monotonicNow() - beganAtMs))
    await clock.advance(10_000)
    await answer
  }

  expect(pauses).toEqual([1_000, 2_000, 3_000])
  expect(fileAt(record.ledger(), 0).generation).toBe(0)
})

it('registers the name of a capture again, in its own session, whatever its storage says of uploads', async () => {
  const registered: (string | number)[] = []
  const { renew, sessions } = await refused(undefined, {
    register: (sessionId) => {
      registered.push(sessionId)
      return Promise.resolve([{ fileIndex: 0, addresses: ['https://s.test/new/1', 'https://s.test/new/2'] }])
    },
  })

  expect(await renew(GONE)).toBe(true)
  expect(registered).toEqual(['s1'])
  expect(sessions()).toBe(1)
})

it('registers the name of a capture three times in a row where its addresses stay refused, and anew once a part got through', async () => {
  let registered = 0
  const { renew, record } = await refused(undefined, {
    register: () => {
      registered += 1
      const addresses = [1, 2].map((part) => `https://s.test/${String(registered)}/${String(part)}`)
      return Promise.resolve([{ fileIndex: 0, addresses }])
    },
  })
  const renewed = async (times: number) => {
    const answers: boolean[] = []
    for (let time = 0; time < times; time += 1) answers.push(await renew(REFUSED))
    return answers
  }

  expect(await renewed(2)).toEqual([true, true])
  await record.write({ type: 'part.received', fileIndex: 0, partNumber: 1, receipt: RECEIPT, generation: 0 })
  expect(await renewed(4)).toEqual([true, true, true, false])
  expect(registered).toBe(5)
})

it('counts for a file only the sessions of this run: a person who tries again gets new ones', async () => {
  const { findDead, next, sessions } = await refused(undefined, { lifeMs: 3_600_000 })

  expect(await findDead()).toBe(true)
  next()
  expect(await findDead()).toBe(true)
  await expect(findDead()).rejects.toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_EXPIRED' })
  expect(sessions()).toBe(3)
})

it('says that the clocks differ where new addresses are dead by their own time, whatever the storage says of them', async () => {
  const { renew } = await refused(undefined, { lifeMs: 3_600_000 })

  expect(await renew(REFUSED, true)).toBe(true)
  await expect(renew(REFUSED, true)).rejects.toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_EXPIRED' })
})

it('believes a storage that gives no reason and takes no part under new addresses either', async () => {
  const { refuse, sessions } = await refused()

  expect(await refuse(4)).toEqual([true, true, true, true])
  expect(sessions()).toBe(2)
  expect(await refuse(4)).toEqual([true, true, true, false])
  expect(sessions()).toBe(2)
})

it('moves the file once more where a part got through, or where the storage speaks of expiry', async () => {
  const { record, refuse, sessions } = await refused()
  await refuse(4)
  await record.write({ type: 'part.received', fileIndex: 0, partNumber: 1, receipt: RECEIPT, generation: 1 })

  expect(await refuse(4)).toEqual([true, true, true, true])
  expect(sessions()).toBe(3)
  expect(await refuse(4, true)).toEqual([true, true, true, true])
  expect(sessions()).toBe(4)
})

it('asks for no more sessions when a new one comes with dead addresses: the clocks of service and storage differ', async () => {
  const { findDead, sessions } = await refused(undefined, { lifeMs: 3_600_000 })

  expect(await findDead()).toBe(true)
  await expect(findDead()).rejects.toMatchObject({
    code: 'ERR_UPLOAD_ADDRESS_EXPIRED',
    message: expect.stringContaining('differ by more than the 60 min') as string,
  })
  expect(sessions()).toBe(2)
})

it('calls no life negative, where a new session comes with addresses that were dead by the time of the storage before they came', async () => {
  const { findDead, sessions } = await refused(undefined, { lifeMs: -3_589_000 })

  expect(await findDead()).toBe(true)
  await expect(findDead()).rejects.toMatchObject({
    code: 'ERR_UPLOAD_ADDRESS_EXPIRED',
    message: expect.stringContaining(
      'dead when they came: the clocks of the service and of its storage differ',
    ) as string,
  })
  await expect(findDead()).rejects.not.toMatchObject({ message: expect.stringMatching(/-\d/) as string })
  expect(sessions()).toBe(2)
})

it('asks for twenty more sessions and for none after them, where nothing tells how long the expired addresses live', async () => {
  const { refuse, sessions } = await refused()

  for (let move = 0; move < 20; move += 1) expect(await refuse(4, true)).toEqual([true, true, true, true])
  await refuse(3, true)
  await expect(refuse(1, true)).rejects.toMatchObject({
    code: 'ERR_UPLOAD_ADDRESS_EXPIRED',
    message: expect.stringContaining('After 20 new sessions, the file is still not sent') as string,
  })
  expect(sessions()).toBe(21)
})

it('asks for a few more sessions when the storage says of young addresses that they have expired, and then for none', async () => {
  const { refuse, sessions } = await refused(undefined, { lifeMs: 3_600_000 })

  for (let move = 0; move < 5; move += 1) expect(await refuse(4, true)).toEqual([true, true, true, true])
  expect(await refuse(3, true)).toEqual([true, true, true])
  await expect(refuse(1, true)).rejects.toMatchObject({
    code: 'ERR_UPLOAD_ADDRESS_EXPIRED',
    message: expect.stringMatching(/differ by more than the 60 min .* or it signs with credentials/) as string,
  })
  expect(sessions()).toBe(6)
})

it.each([
  ['only the one that gets no new upload', REFUSED, ['rejected', 'fulfilled', 'fulfilled'], 3],
  [
    'all at once if the store is away',
    new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', 'Away.', { isRetryable: true }),
    ['rejected', 'rejected', 'rejected'],
    1,
  ],
])('fails, of files whose uploads are gone, %s', async (_, failure, outcomes, sessions) => {
  const clock = createSimulatedClock()
  const record = createSessionRecord(memoryJournal(), clock, 'k')
  const addressed = ({ fileIndex }: PlannedFile): AddressedFile => ({
    fileIndex,
    addresses: [1, 2].map((part) => `https://s.test/${String(fileIndex)}/${String(part)}`),
  })
  let created = 0
  const protocol = {
    ...{ traits: { addressing: 'unit' }, request: () => ({ method: 'PUT', headers: {} }) },
    register: () => Promise.resolve(undefined),
    confirm: () => Promise.resolve(),
    create: (plans: readonly PlannedFile[]) =>
      created++ === 0
        ? Promise.reject(failure)
        : Promise.resolve({ sessionId: `s${String(created)}`, files: plans.map(addressed) }),
  } as unknown as Protocol
  const files = ['a.mp4', 'b.mp4', 'c.mp4'].map((name, fileIndex) => ({ ...PLAN, name, fileIndex }))
  const begun = { version: JOURNAL_VERSION, key: 'k', flow: 'custom', params: {}, files, locations: [] } as const
  await record.write({ type: 'session.begun', ...begun })
  await record.write({ type: 'session.created', sessionId: 's0' })
  await record.write({ type: 'files.registered', files: files.map(addressed) })
  const job = createSessionJob({
    ...{ record, protocol, clock },
    ...{ bytesPerSecond: () => 0, onReplaced: () => undefined, report: () => undefined },
    source: () => {
      throw new Error('Nothing is read.')
    },
  })

  const error = new HttpStatusError('ERR_UPLOAD_ADDRESS_REFUSED', 'Gone.', { status: 404, serviceCode: 'NoSuchUpload' })
  const reason = { isDead: true, error, lifeMs: undefined, signal: new AbortController().signal }
  const renewals = await Promise.allSettled(record.ledger().files.map((file) => job.renew(file, reason)))

  expect(renewals.map(({ status }) => status)).toEqual(outcomes)
  expect(created).toBe(sessions)
})

it('asks for no other session for a file that fails while the first one is being made, and ends that one', async () => {
  const { record, findDead, left, sessions } = await refused()

  const renewal = findDead()
  const error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'a.mp4 has changed.' } as const
  await record.write({ type: 'file.failed', fileIndex: 0, error })

  expect(await renewal).toBe(false)
  expect(sessions()).toBe(2)
  // What is left is ended when all is over. The file stays where a resume takes it up again.
  expect([record.sessionId(), left()]).toEqual(['s1', ['s2']])
})

it('tells the service of a session that is left empty, and goes on doing so until it is told', async () => {
  const told: (string | number)[] = []
  let isAway = false
  const { refuse, left } = await refused((sessionId) => {
    told.push(sessionId)
    return isAway ? Promise.reject(new Error('away')) : Promise.resolve()
  })

  await refuse(4)
  expect([told, left()]).toEqual([['s1'], []])
  isAway = true
  await refuse(4, true)
  expect([told, left()]).toEqual([['s1', 's2'], ['s2']])
  isAway = false
  await refuse(4, true)
  expect([told.toSorted(), left()]).toEqual([['s1', 's2', 's2', 's3'], []])
})

it('does not wait for ever for a host that is asked for addresses, and its failure is that of the file', async () => {
  const hangs = await refused(undefined, { renewAddresses: () => new Promise(() => {}) })
  const fails = await refused(undefined, { renewAddresses: () => Promise.reject(new TypeError('fetch failed')) })
  const controller = new AbortController()

  const late = hangs.findDead()
  const stopped = hangs.findDead(controller.signal)
  const reason = new Error('paused')
  controller.abort(reason)

  await expect(stopped).rejects.toBe(reason)
  const message = 'renewAddresses gave no answer in time.'
  const said = expect(late).rejects.toMatchObject({ code: 'ERR_UPLOAD_TIMEOUT', message })
  await hangs.clock.advance(60_000)
  await said
  await expect(fails.findDead()).rejects.toMatchObject({
    code: 'ERR_UPLOAD_SERVICE_REPLY',
    message: 'renewAddresses failed: fetch failed',
  })
  expect([hangs.clock.pending, fails.clock.pending]).toEqual([0, 0])
})

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
  const files = Array.from({ length: count }, (_, fileIndex) => ({ ...PLAN, name: `${fileIndex}.mp4`, fileIndex }))
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

/** How an upload of so many files ends whose addresses live for a minute, while each file takes twenty seconds. */
async function endOfMinutes(count: number, isAway: (nowMs: number) => boolean = () => false) {
  let sessions = 0
  const rig = createFarEnd({
    service({ method, url }, body) {
      if (method !== 'POST' || !url.endsWith('/upload_videos')) return { status: 200, body: {} }
      sessions += 1
      const { files } = JSON.parse(new TextDecoder().decode(body)) as { files: { file_id: number }[] }
      const signed = new Date(rig.clock.wallNow()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
      const query = `X-Amz-Date=${signed}&X-Amz-Expires=60&X-Amz-Signature=x`
      const entries = files.map(({ file_id }) => ({
        file_id,
        session_file_id: `${sessions}-${file_id}`,
        info: Array.from({ length: 40 }, (_, index) => ({
          url: `https://store.example/${sessions}/${file_id}/${index + 1}?${query}`,
        })),
      }))
      return { status: 200, body: { upload_session_id: `s${sessions}`, pre_signed_urls: entries } }
    },
    async storage(request, body) {
      if (isAway(rig.clock.monotonicNow()))
        return new TransportError('ERR_UPLOAD_NETWORK', 'No connection', { phase: 'connect', ending: 'neverWhole' })
      await new Promise<void>((resolve) => rig.clock.setTimeout(resolve, 1_000))
      return goodStorage(request, body) as Answer
    },
  })
  const files = Array.from({ length: count }, (_, index) => ({
    source: bytesSource(`${index}.mp4`, new Uint8Array(400).fill(index)),
  }))
  const unitLimits = { minBytes: 1, maxBytes: 1_000, maxCount: 100, multipleOfBytes: 1 }
  const report = await rig.settled(rig.uplink.uploadVideos({ ...VIDEO, files, partSizeBytes: 10, unitLimits }).done())
  return { report, sessions }
}

it('judges no file by the rate of an outage in which its addresses died, but by that of the bytes before it', async () => {
  const { report } = await endOfMinutes(6, (nowMs) => nowMs > 90_000 && nowMs < 200_000)

  expect(report).toMatchObject({ status: 'confirmed' })
})

it('fails no file because others before it took many sessions, when it fits into one itself', async () => {
  const { report, sessions } = await endOfMinutes(70)

  expect(report).toMatchObject({ status: 'confirmed' })
  expect(sessions).toBeGreaterThan(21)
})

it.each(['capture', 'video'] as const)(
  'asks for no addresses during an outage in which they die again and again, and costs no file of a %s session',
  async (flow) => {
    const isAway = (): boolean => rig.clock.monotonicNow() < 5 * 3_600_000
    let asked = 0
    const rig = createFarEnd({
      giveUpAfterMs: 12 * 3_600_000,
      service({ method, url }, body) {
        const signed = new Date(rig.clock.wallNow()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
        const address = (name: string) =>
          `https://store.example/${asked}/${name}?X-Amz-Date=${signed}&X-Amz-Expires=60&X-Amz-Signature=x`
        if (url.endsWith('/mocap_session')) return { status: 200, body: { session_id: 's1' } }
        if (method !== 'POST') return { status: 200, body: {} }
        asked += 1
        const sent = JSON.parse(new TextDecoder().decode(body)) as {
          readonly filenames?: readonly string[]
          readonly files?: readonly { readonly file_id: number }[]
        }
        if (sent.filenames !== undefined)
          return { status: 200, body: Object.fromEntries(sent.filenames.map((name) => [name, address(name)])) }
        const entries = sent.files?.map(({ file_id }) => ({
          ...{ file_id, session_file_id: file_id, info: [{ url: address(String(file_id)) }] },
        }))
        return { status: 200, body: { upload_session_id: `s${asked}`, pre_signed_urls: entries } }
      },
      storage(request, body) {
        if (isAway())
          return new TransportError('ERR_UPLOAD_NETWORK', 'No connection', { phase: 'connect', ending: 'neverWhole' })
        const isOfOutage = request.url.startsWith('https://store.example/1/')
        return isOfOutage
          ? { status: 403, body: '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>' }
          : goodStorage(request, body)
      },
    })
    const files = ['a', 'b', 'c'].map((name) => ({
      source: bytesSource(`${name}.${flow === 'video' ? 'mp4' : 'action'}`, new Uint8Array(400)),
    }))
    const upload =
      flow === 'video' ? rig.uplink.uploadVideos({ ...VIDEO, files }) : rig.uplink.uploadCaptures({ ...CAPTURE, files })

    expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed' })
    // Once for all of a session, or once for each capture.
    expect(asked).toBeLessThanOrEqual(1 + files.length)
  },
)
