// An Uplink that is closed while something runs on it, and an upload whose signal fires: whatever state it is in, it is let go as
// it is, everything settles, nothing begins any more, and another Uplink of the same process goes on at once.

import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import type { UploadError } from '../../src/core/errors.ts'
import type { Journal, Source, TransportRequest } from '../../src/core/ports.ts'
import type { Upload, UploadState } from '../../src/flows/upload.ts'
import {
  BASE_URL,
  CAPTURE,
  createFarEnd,
  endOf,
  goodService,
  goodStorage,
  VIDEO,
  type Answer,
  type FarEnd,
  type SlowBehaviour,
} from '../security/far-end.ts'

const NAMES = ['a.mp4', 'b.mp4']
const source = (name: string): Source => bytesSource(name, new Uint8Array(7))
const files = NAMES.map((name) => ({ source: source(name) }))
const service = goodService((fileIndex) => `https://store.example/${String(fileIndex)}`)
const isCreate = ({ method, url }: TransportRequest): boolean =>
  method === 'POST' && url === `${BASE_URL}/upload_videos`
const isConfirm = ({ method }: TransportRequest): boolean => method === 'PATCH'

/** No answer until the attempt is ended. */
function unanswered({ signal }: TransportRequest): Promise<Answer> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

const hangingAt =
  (isHanging: (request: TransportRequest) => boolean): SlowBehaviour =>
  (request, body) =>
    isHanging(request) ? unanswered(request) : service(request, body)
const away: SlowBehaviour = () => ({ status: 503 })

interface Case {
  readonly state: UploadState
  readonly service?: SlowBehaviour
  readonly storage?: SlowBehaviour
  readonly bring?: (upload: Upload, rig: FarEnd) => Promise<void> | void
}

/** How an upload comes into a state in which it is then closed. */
const CASES: Readonly<Record<string, Case>> = {
  'a create under way': { state: 'creating', service: hangingAt(isCreate) },
  'a create that waits': { state: 'waiting', service: away, bring: (_, { clock }) => clock.advance(60_000) },
  'parts under way': { state: 'uploading', storage: unanswered },
  'a confirmation under way': { state: 'uploading', service: hangingAt(isConfirm) },
  'a confirmation that waits': {
    state: 'waiting',
    service: (request, body) => (isConfirm(request) ? { status: 503 } : service(request, body)),
    bring: (_, { clock }) => clock.advance(60_000),
  },
  'a storage that is away': { state: 'waiting', storage: away, bring: (_, { clock }) => clock.advance(60_000) },
  'a pause under way': { state: 'pausing', storage: unanswered, bring: (upload) => upload.pause() },
  'a pause': {
    state: 'paused',
    storage: unanswered,
    async bring(upload, { clock }) {
      upload.pause()
      await clock.advance(0)
    },
  },
}

async function begin({ service: own = service, storage = goodStorage, bring }: Omit<Case, 'state'>) {
  const journal = memoryJournal()
  const rig = createFarEnd({ service: own, storage, journal })
  const controller = new AbortController()
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files, signal: controller.signal })
  await rig.clock.advance(0)
  await bring?.(upload, rig)
  return { ...rig, journal, upload, key: upload.key, controller }
}

/** Both ways to let go of an upload. */
const WAYS: Readonly<Record<string, (begun: Awaited<ReturnType<typeof begin>>) => Promise<unknown>>> = {
  'a close': ({ uplink }) => uplink.close(),
  'an abort'({ controller, upload }) {
    controller.abort()
    return endOf(upload)
  },
}

const typesOf = async (journal: Journal, key: string) => (await journal.read(key)).map(({ type }) => type)

const LETTING_GO = Object.entries(WAYS).flatMap(([way, letGo]) =>
  Object.entries(CASES).map(([name, it_]) => [`${way} with ${name}`, letGo, it_] as const),
)

describe.each(LETTING_GO)('%s', (_, letGo, it_) => {
  it('settles, with one error that says how to go on', async () => {
    const begun = await begin(it_)
    const { upload, clock, settled, key } = begun
    expect(upload.state).toBe(it_.state)
    const ended = endOf(upload)
    await settled(letGo(begun))

    expect(upload.state).toBe('closed')
    expect((await ended).error).toMatchObject({
      ...{ code: 'ERR_UPLOAD_CLOSED', message: expect.stringContaining(`resume('${key}')`) as string },
      report: { status: 'closed', key, files: NAMES.map((name) => ({ name, status: 'unfinished' })) },
    })
    expect(clock.pending).toBe(0)
  })

  it('lets nothing begin any more, and records no end', async () => {
    const begun = await begin(it_)
    const { clock, settled, requests, journal, key } = begun
    await settled(letGo(begun))
    const before = requests.length
    await clock.advance(7_200_000)

    expect(requests.slice(before)).toEqual([])
    const types = await typesOf(journal, key)
    for (const ended of ['file.failed', 'session.settled', 'session.cancelling', 'session.cancelled'] as const)
      expect(types).not.toContain(ended)
  })

  it('frees its key, and another Uplink of the process goes on at once', async () => {
    const begun = await begin(it_)
    const { settled, journal, key } = begun
    await settled(letGo(begun))
    const next = createFarEnd({ service, storage: goodStorage, journal })
    const resumed = await next.settled(next.uplink.resume(key, { source: ({ name }) => source(name) }))

    expect((await next.settled(resumed.done())).status).toBe('confirmed')
  })
})

describe('a close', () => {
  it('waits for a create on its way, so that its session is known', async () => {
    let answer: (answer: Answer) => void = () => undefined
    const slow: SlowBehaviour = (request, body) =>
      isCreate(request)
        ? new Promise<Answer>((resolve) => (answer = resolve)).then(() => service(request, body) as Answer)
        : service(request, body)
    const { uplink, clock, settled, requests, upload } = await begin({ service: slow })
    const closed = uplink.close()
    await clock.advance(10_000)
    expect(upload.state).toBe('creating')
    answer({ status: 200 })
    await settled(closed)

    expect(upload.snapshot()).toMatchObject({ sessionId: 's-1', hasPossibleOrphan: false })
    expect(requests.map(({ method }) => method)).toEqual(['POST'])
  })

  it('is what its error names, also where the signal of the upload fires while it waits', async () => {
    const { uplink, settled, upload, key, controller } = await begin({ service: hangingAt(isCreate) })
    const ended = endOf(upload)
    const closed = uplink.close()
    controller.abort()
    await settled(closed)

    expect((await ended).error).toMatchObject({
      message: `The Uplink was closed: resume('${key}') of another one goes on.`,
    })
  })

  it('asks for no session once the sources are no longer looked at', async () => {
    const never = (): Promise<never> => new Promise(() => undefined)
    const rig = createFarEnd({ service, storage: goodStorage })
    const upload = rig.uplink.uploadVideos({
      ...VIDEO,
      files: [{ source: { name: 'a.mp4', describe: never, open: never } }],
    })
    const ended = endOf(upload)
    await rig.clock.advance(0)
    await rig.settled(rig.uplink.close())

    expect((await ended).error).toMatchObject({ code: 'ERR_UPLOAD_CLOSED', message: /nothing was begun/ })
    expect([rig.requests.length, rig.clock.pending]).toEqual([0, 0])
  })

  it('asks for no session in the moment before the call, and leaves no doubt about it', async () => {
    const journal = memoryJournal()
    const closingAtIntent: Journal = {
      ...journal,
      async open(key) {
        const session = await journal.open(key)
        const append = (...[records]: Parameters<typeof session.append>) => {
          if (records.at(-1)?.type === 'session.creating') void rig.uplink.close()
          return session.append(records)
        }
        return { ...session, append }
      },
    }
    const rig = createFarEnd({ service, storage: goodStorage, journal: closingAtIntent })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
    const ended = endOf(upload)
    await rig.settled(ended)

    expect((await ended).error).toMatchObject({ code: 'ERR_UPLOAD_CLOSED', report: { hasPossibleOrphan: false } })
    expect(rig.requests).toEqual([])
    expect(await typesOf(journal, upload.key)).toEqual(['session.begun', 'session.creating', 'session.refused'])
  })

  it('carries a cancel through that was asked for before', async () => {
    const { uplink, settled, upload, requests } = await begin({ storage: unanswered })
    const cancelled = upload.cancel()
    await settled(uplink.close())

    expect(await cancelled).toMatchObject({ status: 'cancelled', isServiceTold: true })
    expect(requests.at(-1)?.method).toBe('DELETE')
  })

  it('gives a cancel up after a minute that the service does not hear, and keeps it for a later life', async () => {
    const deaf: SlowBehaviour = (request, body) =>
      request.method === 'DELETE' ? unanswered(request) : service(request, body)
    const { uplink, settled, clock, upload, journal, key } = await begin({ service: deaf, storage: unanswered })
    const cancelled = upload.cancel()
    const beganAtMs = clock.monotonicNow()
    await settled(uplink.close())

    expect(await cancelled).toMatchObject({ status: 'cancelled', isServiceTold: false })
    expect(clock.monotonicNow() - beganAtMs).toBeLessThanOrEqual(60_000)
    expect(clock.pending).toBe(0)
    const next = createFarEnd({ service, storage: goodStorage, journal })
    expect(await next.settled(next.uplink.cancelSession(key))).toMatchObject({ isServiceTold: true })
  })

  it('leaves an upload that settles what it is', async () => {
    const { uplink, settled, clock } = createFarEnd({ service, storage: goodStorage })
    const upload = uplink.uploadVideos({ ...VIDEO, files })
    upload.on('state', ({ state }) => {
      if (state === 'settling') void uplink.close()
    })

    expect((await settled(upload.done())).status).toBe('confirmed')
    expect(clock.pending).toBe(0)
  })

  it('is undone neither by a resume nor by a pause', async () => {
    const { uplink, settled, upload } = await begin({ storage: unanswered })
    const closed = uplink.close()
    upload.resume()
    upload.pause()
    upload.resume()
    await settled(closed)

    expect(upload.state).toBe('closed')
    upload.resume()
    expect(await settled(upload.cancel())).toMatchObject({ status: 'closed' })
  })

  it('refuses every verb after it with its own code, and goes on to show what the journal holds', async () => {
    const { uplink, settled, upload, key } = await begin({ storage: unanswered })
    upload.done().catch(() => undefined)
    await settled(uplink.close())
    const refused = { code: 'ERR_UPLOAD_CLOSED' }

    expect(() => uplink.uploadVideos({ ...VIDEO, files })).toThrow(expect.objectContaining(refused) as Error)
    expect(() => uplink.watchAnalysis(7)).toThrow(expect.objectContaining(refused) as Error)
    await expect(uplink.resume(key)).rejects.toMatchObject(refused)
    await expect(uplink.cancelSession(key)).rejects.toMatchObject(refused)
    await expect(uplink.client.requestedAnalyses.list()).rejects.toMatchObject(refused)
    expect((await uplink.sessions()).map((session) => session.status)).toEqual(['open'])
    expect((await uplink.receipt(key)).status).toBe('open')
  })

  it('ends calls of the client that wait for a service that is away', async () => {
    const { uplink, settled, clock, requests } = await begin({
      storage: unanswered,
      service: (request, body) => (request.method === 'GET' ? { status: 503 } : service(request, body)),
    })
    const listed = uplink.client.requestedAnalyses.list({}, { signal: new AbortController().signal })
    listed.catch(() => undefined)
    await clock.advance(30_000)
    await settled(uplink.close())
    const before = requests.length

    await expect(listed).rejects.toMatchObject({ code: 'ERR_UPLOAD_CLOSED' })
    await clock.advance(7_200_000)
    expect([requests.length - before, clock.pending]).toEqual([0, 0])
  })

  it('asks no longer for a credential that nobody gives: no timer keeps the process alive', async () => {
    const credentials = { apiKey: () => new Promise<string>(() => undefined) }
    const { uplink, clock } = createFarEnd({ service, storage: goodStorage, credentials })
    const call = uplink.client.requestedAnalyses.list()
    await clock.advance(0)
    await Promise.all([uplink.close(), expect(call).rejects.toMatchObject({ code: 'ERR_UPLOAD_CLOSED' })])

    expect(clock.pending).toBe(0)
  })

  it('lets go of what a resume takes up meanwhile, and waits for that', async () => {
    const first = await begin({ storage: unanswered })
    await first.settled(first.uplink.close())
    const next = createFarEnd({ service, storage: unanswered, journal: first.journal })
    const resuming = next.uplink.resume(first.key, { source: ({ name }) => source(name) })
    await next.settled(next.uplink.close())

    const resumed = await resuming
    expect((await endOf(resumed)).error).toMatchObject({ code: 'ERR_UPLOAD_CLOSED' })
    expect([next.requests.length, next.clock.pending]).toEqual([0, 0])
  })

  it('lets go of analyses, with one error that says how to go on', async () => {
    const { uplink, settled, clock } = createFarEnd({
      service: ({ method }) => ({ status: 200, body: method === 'GET' ? { id: 9, status: 'requested' } : {} }),
      storage: goodStorage,
    })
    const analysis = uplink.watchAnalysis(9)
    await clock.advance(61_000)
    await settled(uplink.close())

    await expect(analysis.done()).rejects.toMatchObject({
      ...{ code: 'ERR_UPLOAD_CLOSED', message: expect.stringContaining("watchAnalysis('9')") as string },
      report: { status: 'stopped', analysisId: 9, serviceStatus: 'requested' },
    })
    expect(clock.pending).toBe(0)
  })

  it('leaves an analysis that ends what it is', async () => {
    const { uplink, settled } = createFarEnd({
      service: () => ({ status: 200, body: { id: 9, status: 'completed' } }),
      storage: goodStorage,
    })
    const analysis = uplink.watchAnalysis(9)
    analysis.on('state', ({ state }) => {
      if (state === 'completed') void uplink.close()
    })

    expect(await settled(analysis.done())).toMatchObject({ status: 'completed', serviceStatus: 'completed' })
  })

  it('is one close, however often it is asked for', async () => {
    const { uplink } = createFarEnd({ service, storage: goodStorage })

    expect(uplink.close()).toBe(uplink.close())
    await uplink.close()
  })
})

describe('an abort', () => {
  it('lets go of its own upload only, and the same Uplink resumes it', async () => {
    const { controller, ...held } = await begin({ storage: unanswered })
    // Keys are made of the time, and here of nothing else.
    await held.clock.advance(1)
    const other = held.uplink.uploadVideos({ ...VIDEO, files })
    controller.abort()
    const { error } = await held.settled(endOf(held.upload))
    const again = new AbortController()
    const resumed = await held.uplink.resume(held.key, { source: ({ name }) => source(name), signal: again.signal })

    expect(error).toMatchObject({ message: `Let go by its signal: resume('${held.key}') goes on.` })
    expect([other.state, resumed.state]).toEqual(['uploading', 'uploading'])
    again.abort()
    expect((await held.settled(endOf(resumed))).error).toMatchObject({ code: 'ERR_UPLOAD_CLOSED' })
  })

  it('before the beginning begins nothing', async () => {
    const { uplink, requests, settled, clock } = createFarEnd({ service, storage: goodStorage })
    const signal = AbortSignal.abort()
    const upload = uplink.uploadVideos({ ...VIDEO, files, signal })
    const capture = uplink.uploadCaptures({ ...CAPTURE, files: [{ source: source('a.action') }], signal })
    const analysis = uplink.requestAnalysis({ name: 'n', primary: { segmentId: 1 }, signal })
    const refused = { code: 'ERR_UPLOAD_CLOSED' }

    expect((await settled(endOf(upload))).error).toMatchObject({ ...refused, message: /nothing was begun/ })
    expect((await settled(endOf(capture))).error).toMatchObject({ ...refused, message: /nothing was begun/ })
    await expect(analysis.done()).rejects.toMatchObject({
      ...refused,
      message: 'Let go by its signal: no analysis was begun.',
    })
    expect([requests.length, clock.pending]).toEqual([0, 0])
  })

  it('cannot come of what is no signal, with which nothing begins', async () => {
    const { uplink, requests, clock } = createFarEnd({ service, storage: goodStorage })
    const signal = new AbortController() as unknown as AbortSignal
    const refused = expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }) as Error

    expect(() => uplink.uploadVideos({ ...VIDEO, files, signal })).toThrow(refused)
    expect(() => uplink.watchAnalysis(9, { signal })).toThrow(refused)
    await clock.advance(60_000)
    expect(requests).toEqual([])
    expect(await uplink.sessions()).toEqual([])
  })

  it('before a resume or within a listener lets go as any other', async () => {
    const { controller, ...held } = await begin({ storage: unanswered })
    held.upload.on('state', ({ state }) => {
      if (state === 'pausing') controller.abort()
    })
    held.upload.pause()
    expect((await held.settled(endOf(held.upload))).error).toMatchObject({ code: 'ERR_UPLOAD_CLOSED' })
    const before = held.requests.length
    const options = { source: ({ name }: { name: string }) => source(name), signal: controller.signal }
    const resumed = await held.settled(held.uplink.resume(held.key, options))

    expect((await held.settled(endOf(resumed))).error).toMatchObject({ code: 'ERR_UPLOAD_CLOSED' })
    expect([held.requests.length, held.clock.pending]).toEqual([before, 0])
  })

  it('while a cancel is under way changes nothing of it', async () => {
    const { controller, upload, settled } = await begin({ storage: unanswered })
    const cancelled = upload.cancel()
    controller.abort()

    expect(await settled(cancelled)).toMatchObject({ status: 'cancelled', isServiceTold: true })
  })

  it('lets go of an analysis, and says how to watch it on', async () => {
    const { uplink, settled, clock } = createFarEnd({
      service: () => ({ status: 200, body: { id: 9, status: 'requested' } }),
      storage: goodStorage,
    })
    const controller = new AbortController()
    const analysis = uplink.watchAnalysis(9, { signal: controller.signal })
    await clock.advance(61_000)
    controller.abort()

    await expect(settled(analysis.done())).rejects.toMatchObject({
      ...{ code: 'ERR_UPLOAD_CLOSED', message: "Let go by its signal: watchAnalysis('9') goes on." },
      report: { status: 'stopped', analysisId: 9 },
    })
  })

  it('while an analysis is being made names it, because it may have been', async () => {
    const { uplink, settled, clock } = createFarEnd({ service: unanswered, storage: goodStorage })
    const controller = new AbortController()
    const { signal } = controller
    const analysis = uplink.requestAnalysis({ name: 'Night game', primary: { segmentId: 1 }, signal })
    await clock.advance(0)
    controller.abort()

    await expect(settled(analysis.done())).rejects.toMatchObject({
      message: 'Let go by its signal: look for Night game before it is asked for again.',
    })
  })

  it('lets go of eleven uploads with one listener: Node would warn of a leak', async () => {
    const { uplink, settled, clock } = createFarEnd({ service, storage: unanswered })
    const controller = new AbortController()
    const ends = []
    for (let count = 1; count <= 11; count += 1) {
      ends.push(endOf(uplink.uploadVideos({ ...VIDEO, files, signal: controller.signal })))
      await clock.advance(1)
    }
    const listeners = getEventListeners(controller.signal, 'abort')
    controller.abort()
    const codes = (await settled(Promise.all(ends))).map(({ error }) => (error as UploadError).code)

    expect(listeners).toHaveLength(1)
    expect(codes).toEqual(ends.map(() => 'ERR_UPLOAD_CLOSED'))
  })

  it('after the end changes nothing, and nobody listens to it', async () => {
    const { uplink, settled } = createFarEnd({ service, storage: goodStorage })
    const controller = new AbortController()
    const upload = uplink.uploadVideos({ ...VIDEO, files, signal: controller.signal })
    await settled(upload.done())

    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    controller.abort()
    expect(upload.state).toBe('confirmed')
  })
})
