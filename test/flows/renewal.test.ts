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
import { createSessionRecord } from '../../src/flows/session-record.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import {
  CAPTURE,
  createFarEnd,
  expiredStorage,
  goodService,
  goodStorage,
  VIDEO,
  type Answer,
} from '../security/far-end.ts'

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

it('fails a capture in the words of a service that does not register its name again', async () => {
  const refusal = new HttpStatusError('ERR_UPLOAD_SERVICE_REFUSED', 'No such session.', { status: 404 })
  const { renew } = await refused(undefined, { register: () => Promise.reject(refusal) })

  await expect(renew(REFUSED)).rejects.toBe(refusal)
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
  ['only the one that gets no new upload', REFUSED, true, ['rejected', 'fulfilled', 'fulfilled'], 3],
  [
    'all at once if the store is away',
    new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', 'Away.', { isRetryable: true }),
    true,
    ['rejected', 'rejected', 'rejected'],
    1,
  ],
  ['all at once if one upload was for all', REFUSED, false, ['rejected', 'rejected', 'rejected'], 1],
])('fails, of files whose uploads are gone, %s', async (_, failure, hasOwn, outcomes, sessions) => {
  const clock = createSimulatedClock()
  const record = createSessionRecord(memoryJournal(), clock, 'k')
  const addressed = ({ fileIndex }: PlannedFile): AddressedFile => ({
    fileIndex,
    addresses: [1, 2].map((part) => `https://s.test/${String(fileIndex)}/${String(part)}`),
  })
  let created = 0
  const protocol = {
    ...{ traits: { addressing: 'unit' }, request: () => ({ method: 'PUT', headers: {} }) },
    register: hasOwn ? () => Promise.resolve(undefined) : undefined,
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
  expect([record.folded()?.sessionId, left()]).toEqual(['s1', ['s2']])
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

it.each(['pause', 'cancel'] as const)(
  'waits at a %s for the session that takes over, so that it can be ended',
  async (verb) => {
    let answer: () => void = () => undefined
    const ended: string[] = []
    const made = goodService((_, partNumber) => `https://store.example/${String(partNumber)}`)
    const rig = createFarEnd({
      storage: expiredStorage,
      service(request, body) {
        if (request.method === 'DELETE') ended.push(request.url.slice(request.url.lastIndexOf('/') + 1))
        const isFirst = rig.requests.filter(({ method }) => method === 'POST').length === 1
        if (request.method !== 'POST' || isFirst) return made(request, body)
        return new Promise((resolve, reject) => {
          const entry = { session_file_id: 'f-0', info: [{ url: 'https://store.example/2' }] }
          answer = () => resolve({ status: 200, body: { upload_session_id: 's-2', pre_signed_urls: [entry] } })
          request.signal.addEventListener('abort', () => reject(request.signal.reason as Error))
        })
      },
    })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [{ source: bytesSource('a.mp4', new Uint8Array(3)) }] })
    await rig.clock.advance(20_000)
    const report = verb === 'pause' ? (upload.pause(), undefined) : upload.cancel()
    await rig.clock.advance(3_000)
    answer()
    await rig.clock.advance(0)

    expect(upload.state).toBe(verb === 'pause' ? 'paused' : 'cancelled')
    expect(await rig.settled(report ?? upload.cancel())).toMatchObject({
      isServiceTold: true,
      hasPossibleOrphan: false,
    })
    expect(ended.toSorted()).toEqual(['s-1', 's-2'])
    expect(rig.clock.pending).toBe(0)
  },
)
