// A service that is out of reach, or says that it cannot, while an upload or an analysis needs it: both say so as they do of
// the storage, go on by themselves, and let themselves be paused and given up at once.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { ServiceClient } from '../../src/client/operations.ts'
import type { CreatedSession, Protocol } from '../../src/core/ports.ts'
import { videoSession } from '../../src/protocols/video-session.ts'
import type { Upload, UploadEvents } from '../../src/flows/upload.ts'
import { CAPTURE, createFarEnd, endOf, goodStorage, VIDEO, type Answer, type FarEnd } from '../security/far-end.ts'

const MINUTE_MS = 60_000
const source = bytesSource('a.mp4', new Uint8Array([1, 2, 3]))
const files = [{ source }]
const SESSION: Answer = {
  status: 200,
  body: {
    upload_session_id: 's1',
    pre_signed_urls: [{ session_file_id: 'f', info: [{ url: 'https://store.example/k' }] }],
  },
}

/** What the line does while it is down. */
const noWay = (): Error => noWayBy('EAI_AGAIN')
const noWayBy = (code: string): Error =>
  new TransportError('ERR_UPLOAD_NETWORK', 'No connection', {
    ...{ phase: 'connect', ending: 'neverWhole', cause: Object.assign(new Error('no'), { code }) },
  })

type Calls = (operation: 'create' | 'register' | 'confirm' | 'cancel') => Answer | Error | undefined

/** A service that answers what `calls` says, or as it should where that is nothing. */
function serviceOf(calls: Calls): {
  readonly service: Parameters<typeof createFarEnd>[0]['service']
  readonly asked: string[]
} {
  const asked: string[] = []
  const service = ({ url, method }: { readonly url: string; readonly method: string }): Answer | Error => {
    const isVideo = url.includes('video')
    const operation =
      method === 'DELETE' ? 'cancel' : method === 'PATCH' ? 'confirm' : url.endsWith('_file') ? 'register' : 'create'
    asked.push(operation)
    const answer = calls(operation)
    if (answer !== undefined) return answer
    if (operation === 'register') return { status: 200, body: { 'a.action': 'https://store.example/k' } }
    return isVideo ? (operation === 'create' ? SESSION : { status: 200 }) : { status: 200, body: { session_id: 's1' } }
  }
  return { service, asked }
}

interface Watched {
  readonly states: string[]
  readonly waits: UploadEvents['waiting'][]
}

function watch(upload: Upload): Watched {
  const watched: Watched = { states: [], waits: [] }
  upload.on('state', ({ state }) => watched.states.push(state))
  upload.on('waiting', (wait) => watched.waits.push(wait))
  return watched
}

/** Lets time pass until the upload is in that state. */
async function until({ clock }: FarEnd, upload: Upload, state: string): Promise<void> {
  // What has just been called has set its timers by then: the first to fire must not be one that waits far longer.
  await clock.advance(0)
  for (let turn = 0; turn < 100_000 && upload.state !== state; turn += 1) await clock.advance(clock.nextDueInMs ?? 0)
  expect(upload.state).toBe(state)
}

describe('a line that is down for ten minutes', () => {
  it.each([
    ['create', (rig: FarEnd) => rig.uplink.uploadVideos({ ...VIDEO, files })],
    ['confirm', (rig: FarEnd) => rig.uplink.uploadVideos({ ...VIDEO, files })],
    [
      'register',
      (rig: FarEnd) =>
        rig.uplink.uploadCaptures({ ...CAPTURE, files: [{ source: bytesSource('a.action', new Uint8Array([1])) }] }),
    ],
  ] as const)('at %s is waited for and told as that of a storage, and then the upload goes on', async (step, start) => {
    let isBack = false
    const { service } = serviceOf((operation) => (operation === step && !isBack ? noWay() : undefined))
    const rig = createFarEnd({ service, storage: goodStorage })
    const upload = start(rig)
    const { states, waits } = watch(upload)
    const beganMs = rig.clock.wallNow()

    await until(rig, upload, 'waiting')
    while (rig.clock.wallNow() - beganMs < 10 * MINUTE_MS) await rig.clock.step()
    isBack = true
    const report = await rig.settled(upload.done())

    expect(report).toMatchObject({ status: 'confirmed', hasPossibleOrphan: false })
    const began = step === 'create' ? [] : ['uploading']
    const back = step === 'create' ? ['creating', 'uploading'] : ['uploading']
    expect(states).toEqual([...began, 'waiting', ...back, 'settling', 'confirmed'])
    expect(waits.length).toBeGreaterThan(10)
    expect(new Set(waits.map(({ sinceMs }) => sinceMs)).size).toBe(1)
    for (const { untilMs, giveUpAtMs, ...wait } of waits) {
      expect(wait).toMatchObject({ host: 'service.example:443', reason: 'its name was not found' })
      expect(giveUpAtMs! - wait.sinceMs).toBeGreaterThanOrEqual(60 * MINUTE_MS)
      if (untilMs !== undefined) expect(untilMs - wait.sinceMs).toBeLessThan(12 * MINUTE_MS)
    }
  })

  it('is given up at its time, with an error that says what was asked how often for how long, and resumes', async () => {
    let isBack = false
    const { service } = serviceOf(() => (isBack ? undefined : noWay()))
    const rig = createFarEnd({ service, storage: goodStorage, giveUpAfterMs: 10 * MINUTE_MS })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })

    const { error } = await rig.settled(endOf(upload))

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message: expect.stringMatching(
        /^Could not reach service\.example:443 for 600 s \(its name was not found\)\. Gave up after \d{3} attempts to create the video session\. Check the base URL and the network\.$/,
      ) as string,
      report: { status: 'failed', hasPossibleOrphan: false },
    })
    isBack = true
    const again = await rig.settled(rig.uplink.resume(upload.key, { source: () => source }))
    expect(await rig.settled(again.done())).toMatchObject({ status: 'confirmed' })
  })
})

it.each([429, 502, 503, 504])(
  'a service that answers %i to a confirmation for ten minutes is waited for',
  async (status) => {
    const line = { isBack: false }
    const { service } = serviceOf((operation) => (operation === 'confirm' && !line.isBack ? { status } : undefined))
    const rig = createFarEnd({ service, storage: goodStorage })
    rig.clock.setTimeout(() => (line.isBack = true), 10 * MINUTE_MS)
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
    const { waits } = watch(upload)

    expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: false })
    expect(rig.clock.monotonicNow()).toBeGreaterThanOrEqual(10 * MINUTE_MS)
    expect(waits.at(-1)).toMatchObject({ reason: `it answers ${String(status)}` })
  },
)

it('is told at the tries of one call, however many calls wait', async () => {
  let isBack = false
  const all = [0, 1, 2, 3, 4, 5]
  const info = all.map((n) => ({ session_file_id: `f${n}`, info: [{ url: `https://store.example/${n}` }] }))
  const session = { status: 200, body: { upload_session_id: 's1', pre_signed_urls: info } }
  const { service, asked } = serviceOf((operation) =>
    operation === 'create' ? session : operation === 'confirm' && !isBack ? noWay() : undefined,
  )
  const rig = createFarEnd({ service, storage: goodStorage })
  const sources = all.map((n) => ({ source: bytesSource(`${n}.mp4`, new Uint8Array([1, 2, 3])) }))
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files: sources })
  const told: { readonly atMs: number; readonly untilMs: number }[] = []
  upload.on('waiting', ({ untilMs }) => untilMs && told.push({ atMs: rig.clock.wallNow(), untilMs }))
  await until(rig, upload, 'waiting')
  await rig.clock.advance(10 * MINUTE_MS)

  expect(told.length).toBeGreaterThan(10)
  expect(asked.length).toBeGreaterThan(2 * told.length)
  for (const [index, { atMs }] of told.slice(1).entries()) expect(atMs).toBeGreaterThanOrEqual(told[index]!.untilMs)
  isBack = true
  expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed' })
})

it('a service that asks for a pause is given it, and the upload says so', async () => {
  let count = 0
  const pause: Answer = { status: 503, headers: { 'retry-after': '120' } }
  const { service } = serviceOf((operation) => (operation === 'create' && count++ === 0 ? pause : undefined))
  const rig = createFarEnd({ service, storage: goodStorage })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  const { states, waits } = watch(upload)

  await rig.settled(upload.done())

  expect(states).toEqual(['waiting', 'creating', 'uploading', 'settling', 'confirmed'])
  const beganMs = Date.UTC(2026, 10, 20, 20)
  const wait = {
    ...{
      who: 'service',
      host: 'service.example:443',
      operation: 'videoUploads.create',
      status: 503,
      reason: 'it answers 503',
    },
    ...{ giveUpAtMs: beganMs + 60 * MINUTE_MS, isDoubtful: false, sinceMs: beganMs },
  }
  expect(waits).toEqual([
    { ...wait, untilMs: beganMs + 126_000 },
    { ...wait, untilMs: undefined },
  ])
})

it('a service that asks for a pause right after the last byte is said to be waited for as soon as nothing has moved for a while', async () => {
  let confirms = 0
  const pause: Answer = { status: 503, headers: { 'retry-after': '280' } }
  const { service } = serviceOf((operation) => (operation === 'confirm' && confirms++ === 0 ? pause : undefined))
  const rig = createFarEnd({ service, storage: goodStorage })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  const { states } = watch(upload)
  const told: { readonly atMs: number; readonly untilMs: number | undefined }[] = []
  upload.on('waiting', ({ untilMs }) => told.push({ atMs: rig.clock.wallNow(), untilMs }))
  const beganMs = rig.clock.wallNow()

  await rig.settled(upload.done())

  expect(states).toEqual(['uploading', 'waiting', 'uploading', 'settling', 'confirmed'])
  const untilMs = beganMs + 294_000
  expect(told).toEqual([
    { atMs: beganMs + 10_000, untilMs },
    { atMs: untilMs, untilMs: undefined },
  ])
  expect(rig.clock.pending).toBe(0)
})

it.each([
  ['that refuses', 'ECONNREFUSED', ['uploading', 'waiting']],
  // At once, as long as nothing says that it is the way to the service alone.
  ['to which there is no way', 'ENETUNREACH', ['uploading', 'waiting', 'uploading', 'waiting']],
])(
  'is not waiting while the storage takes parts, and is once it has them all: a service %s',
  async (_, code, expected) => {
    const COUNT = 40
    const { service } = serviceOf((operation) => (operation === 'confirm' ? noWayBy(code) : undefined))
    let sent = 0
    const rig = createFarEnd({
      service: (request, body) => {
        if (request.method !== 'POST') return service(request, body)
        const entries = Array.from({ length: COUNT }, (_, index) => ({
          session_file_id: index,
          info: [{ url: `https://store.example/${String(index)}` }],
        }))
        return { status: 200, body: { upload_session_id: 's1', pre_signed_urls: entries } }
      },
      storage: () => ({ status: 200, headers: { etag: `"${String((sent += 1))}"` } }),
      ...{ limitRate: 20_000, giveUpAfterMs: 20 * MINUTE_MS },
    })
    const clips = Array.from({ length: COUNT }, (_, index) => ({
      source: bytesSource(`${String(index)}.mp4`, new Uint8Array(60_000)),
    }))
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: clips })
    const told: string[] = []
    upload.on('waiting', () => told.push(upload.state))
    const { states, waits } = watch(upload)
    const ended = endOf(upload)
    while (states.length < expected.length) await rig.clock.advance(rig.clock.nextDueInMs ?? 0)

    expect(sent).toBe(COUNT)
    expect(states).toEqual(expected)
    // Told while it is in that state, and not before.
    expect(new Set(told)).toEqual(new Set(['waiting']))
    await rig.settled(ended)
    expect(waits.length).toBeGreaterThan(10)
  },
)

it('is waiting at once where there is no network, also when the last byte has only just left', async () => {
  let isBack = false
  const { service } = serviceOf((operation) => (operation === 'confirm' && !isBack ? noWay() : undefined))
  const rig = createFarEnd({ service, storage: goodStorage })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  const beganMs = rig.clock.wallNow()
  await until(rig, upload, 'waiting')
  expect(rig.clock.wallNow() - beganMs).toBeLessThan(1_000)

  isBack = true
  expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed' })
})

it('says of no time that is past when it is tried again: while a try is on its way it says none', async () => {
  const { service } = serviceOf(() => undefined)
  let creates = 0
  const rig = createFarEnd({
    storage: goodStorage,
    service: (request, body) => {
      if (request.method !== 'POST' || (creates += 1) > 3) return service(request, body)
      return new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error))
      })
    },
    isFirstContactAwaited: true,
  })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  let shown: UploadEvents['waiting'] | undefined
  upload.on('waiting', (wait) => (shown = wait))
  const seen = new Set<boolean>()
  const ended = endOf(upload)
  while (creates < 4) {
    await rig.clock.advance(1_000)
    if (upload.state !== 'waiting' || shown === undefined) continue
    seen.add(shown.untilMs === undefined)
    if (shown.untilMs !== undefined) expect(shown.untilMs).toBeGreaterThanOrEqual(rig.clock.wallNow())
  }

  expect(seen).toEqual(new Set([true, false]))
  await rig.settled(ended)
})

describe('while the service is waited for at the create', () => {
  async function waiting(journal = memoryJournal()) {
    const line = { isBack: false }
    const { service, asked } = serviceOf(() => (line.isBack ? undefined : noWay()))
    const rig = createFarEnd({ service, storage: goodStorage, journal })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
    await until(rig, upload, 'waiting')
    return { rig, upload, line, asked, journal }
  }

  it('a pause takes hold at once and leaves no timer, and a resume asks again', async () => {
    const { rig, upload, line } = await waiting()
    upload.pause()
    await rig.clock.advance(0)

    expect(upload.state).toBe('paused')
    expect(rig.clock.pending).toBe(0)
    line.isBack = true
    upload.resume()
    expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: false })
  })

  it('a pause that is taken back in the same breath asks again', async () => {
    const { rig, upload, line } = await waiting()
    upload.pause()
    upload.resume()
    line.isBack = true

    expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: false })
  })

  it('a pause that was asked for before takes hold', async () => {
    const { service } = serviceOf(noWay)
    const rig = createFarEnd({ service, storage: goodStorage })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
    upload.pause()

    await until(rig, upload, 'paused')
    expect(rig.clock.monotonicNow()).toBeLessThan(5_000)
    expect(rig.clock.pending).toBe(0)
  })

  it.each(['waiting', 'paused'] as const)(
    'a cancel when %s settles at once and leaves nothing to do',
    async (state) => {
      const { rig, upload } = await waiting()
      if (state === 'paused') upload.pause()
      await rig.clock.advance(0)
      const cancelled = upload.cancel()
      await rig.clock.advance(0)

      expect(upload.state).toBe('cancelled')
      expect(await cancelled).toMatchObject({ status: 'cancelled', isServiceTold: false, hasPossibleOrphan: false })
      expect(rig.clock.pending).toBe(0)
      expect(await rig.uplink.sessions()).toMatchObject([{ status: 'cancelled', sessionIds: [] }])
    },
  )

  it('a cancel that was asked for before settles', async () => {
    const { service } = serviceOf(noWay)
    const rig = createFarEnd({ service, storage: goodStorage })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })

    expect(await rig.settled(upload.cancel())).toMatchObject({ status: 'cancelled' })
    expect(rig.clock.monotonicNow()).toBeLessThan(5_000)
  })

  it('a process that dies leaves a session that is open, and that another one finishes', async () => {
    const { upload, journal } = await waiting()
    const found = await journal.read(upload.key)
    expect(found.map(({ type }) => type)).toEqual(['session.begun', 'session.creating'])
    const next = memoryJournal()
    const session = await next.open(upload.key)
    await session.append(found)
    await session.close()
    const rig = createFarEnd({ service: serviceOf(() => undefined).service, storage: goodStorage, journal: next })

    const again = await rig.settled(rig.uplink.resume(upload.key, { source: () => source }))
    expect(await rig.settled(again.done())).toMatchObject({ status: 'confirmed', sessionId: 's1' })
  })
})

it('a session that is made in the moment of a pause is not forgotten: the service is told that nobody uses it', async () => {
  let answer: ((session: CreatedSession) => void) | undefined
  const ended: unknown[] = []
  const own = videoSession({ ...VIDEO, client: {} as ServiceClient })
  const protocol: Protocol = {
    ...own,
    create: (_files, _signal, onWaiting) =>
      new Promise((resolve) => {
        const addresses = ['https://store.example/k']
        if (answer !== undefined) resolve({ sessionId: 's2', files: [{ fileIndex: 0, serverFileId: 'f', addresses }] })
        answer = resolve
        onWaiting?.({
          ...{ host: 'h', operation: 'o', reason: 'r' },
          ...{ sinceMs: 1, untilMs: 1e14, giveUpAtMs: 3, isDoubtful: false },
        })
      }),
    confirm: () => Promise.resolve(),
    cancel: (sessionId) => Promise.resolve(void ended.push(sessionId)),
  }
  const rig = createFarEnd({ service: goodStorage, storage: goodStorage })
  const upload = rig.uplink.upload({ protocol, files })
  await until(rig, upload, 'waiting')
  upload.pause()
  answer?.({ sessionId: 's1', files: [{ fileIndex: 0, serverFileId: 'f', addresses: ['https://store.example/k'] }] })
  await until(rig, upload, 'paused')
  upload.resume()

  expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed', sessionId: 's2' })
  expect(ended).toEqual(['s1'])
})

it('an answer that may have been lost while it waited is a possible orphan, also after a cancel', async () => {
  const { service } = serviceOf(() => ({ status: 502 }))
  const rig = createFarEnd({ service, storage: goodStorage })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  await until(rig, upload, 'waiting')

  expect(await rig.settled(upload.cancel())).toMatchObject({ status: 'cancelled', hasPossibleOrphan: true })
})

it('an answer that may have been lost is a possible orphan, also where the create has an end of its own after a cancel', async () => {
  let creates = 0
  const { service } = serviceOf(() => ({ status: creates++ === 0 ? 502 : 400 }))
  const rig = createFarEnd({ service, storage: goodStorage })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  await rig.clock.advance(0)
  expect(creates).toBe(1)

  expect(await rig.settled(upload.cancel())).toMatchObject({ status: 'cancelled', hasPossibleOrphan: true })
})

it.each([
  ['501', () => ({ status: 501 })],
  ['503 to the end', () => ({ status: 503 })],
  ['503 for longer than is waited', () => ({ status: 503, headers: { 'retry-after': '7200' } })],
  ['400', () => ({ status: 400 })],
  ['401', () => ({ status: 401 })],
] as const)('a create that is answered by %s has made no session', async (_status, answer) => {
  const rig = createFarEnd({ service: answer, storage: goodStorage })

  const { error } = await rig.settled(endOf(rig.uplink.uploadVideos({ ...VIDEO, files })))

  expect(error).toMatchObject({ report: { status: 'failed', hasPossibleOrphan: false } })
})

it('a create whose credential cannot be had has made no session', async () => {
  const credentials = { apiKey: () => Promise.reject(new Error('signed out')) }
  const rig = createFarEnd({ service: goodStorage, storage: goodStorage, credentials })

  const { error } = await rig.settled(endOf(rig.uplink.uploadVideos({ ...VIDEO, files })))

  expect(error).toMatchObject({ code: 'ERR_UPLOAD_CREDENTIALS_REFUSED', report: { hasPossibleOrphan: false } })
  expect(rig.requests).toEqual([])
})

describe('a try that is on its way while the create is waited for', () => {
  /** Until the sixth try nobody is there; that one is let wait for `answer`. */
  async function inFlight() {
    let creates = 0
    let answer: ((answer: Answer | Error) => void) | undefined
    const { service } = serviceOf((operation) => (operation === 'create' && creates <= 6 ? noWay() : undefined))
    const rig = createFarEnd({
      storage: goodStorage,
      service: (request, body) => {
        if (request.method === 'POST' && (creates += 1) === 6)
          return new Promise((resolve, reject) => {
            answer = resolve
            request.signal.addEventListener('abort', () => reject(request.signal.reason as Error))
          })
        return service(request, body)
      },
    })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
    while (answer === undefined) await rig.clock.step()
    expect(upload.state).toBe('waiting')
    return { rig, upload, answer }
  }

  it('is let come to its end by a pause: the session that it made is used', async () => {
    const { rig, upload, answer } = await inFlight()
    upload.pause()
    expect(upload.state).toBe('creating')
    await rig.clock.advance(1_000)
    expect(upload.state).toBe('creating')
    answer(SESSION)
    await until(rig, upload, 'paused')
    upload.resume()

    const report = await rig.settled(upload.done())
    expect(report).toMatchObject({ status: 'confirmed', sessionId: 's1', hasPossibleOrphan: false })
    expect(rig.requests.filter(({ method }) => method === 'POST')).toHaveLength(6)
  })

  it('is waited for again by who takes a pause back, and says so', async () => {
    const { rig, upload, answer } = await inFlight()
    const { states, waits } = watch(upload)
    upload.pause()
    upload.resume()

    expect(states).toEqual(['creating', 'waiting'])
    expect(waits).toMatchObject([{ operation: 'videoUploads.create' }])
    answer(SESSION)
    expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed', sessionId: 's1' })
  })

  it('is let come to its end by a cancel: the service is told of the session that it made', async () => {
    const { rig, upload, answer } = await inFlight()
    const cancelled = upload.cancel()
    expect(upload.state).toBe('creating')
    await rig.clock.advance(1_000)
    answer(SESSION)

    expect(await rig.settled(cancelled)).toMatchObject({ status: 'cancelled', sessionId: 's1', isServiceTold: true })
  })

  it('ends a pause that was asked for with its failure', async () => {
    const { rig, upload, answer } = await inFlight()
    upload.pause()
    answer(noWay())
    await until(rig, upload, 'paused')

    expect(upload.snapshot().hasPossibleOrphan).toBe(false)
    expect(rig.clock.pending).toBe(0)
  })

  it.each([0, -3_600_000])(
    'without an answer leaves a possible orphan, also when the wall clock moves by %i',
    async (ms) => {
      const { rig, upload } = await inFlight()
      rig.clock.shiftWall(ms)
      upload.pause()
      await until(rig, upload, 'paused')

      expect(upload.snapshot().hasPossibleOrphan).toBe(true)
      upload.resume()
      expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: true })
    },
  )
})

it('a journal that knows only of a session that was left is resumed, waits, is paused, and asks for a new one', async () => {
  const journal = memoryJournal()
  const bad: Answer = {
    status: 200,
    body: {
      upload_session_id: 's0',
      pre_signed_urls: [{ session_file_id: 'f', info: [{ url: 'http://plain.example/k' }] }],
    },
  }
  const first = createFarEnd({
    ...{ storage: goodStorage, journal },
    service: serviceOf((operation) => (operation === 'create' ? bad : noWay())).service,
  })
  const left = first.uplink.uploadVideos({ ...VIDEO, files })
  await first.settled(endOf(left))
  const line = { isBack: false }
  const { service, asked } = serviceOf(() => (line.isBack ? undefined : noWay()))
  const rig = createFarEnd({ service, storage: goodStorage, journal })
  const upload = await rig.uplink.resume(left.key, { source: () => source })
  await until(rig, upload, 'waiting')
  upload.pause()
  await until(rig, upload, 'paused')
  line.isBack = true
  upload.resume()

  expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed', sessionId: 's1' })
  expect(asked.at(-1)).toBe('cancel')
})

describe('several that are waited for', () => {
  const MANY: Answer = {
    status: 200,
    body: {
      upload_session_id: 's1',
      pre_signed_urls: Array.from({ length: 6 }, (_, index) => ({
        session_file_id: index,
        info: [{ url: `https://store.example/${String(index)}` }],
      })),
    },
  }
  const clips = Array.from({ length: 6 }, (_, index) => ({
    source: bytesSource(`${String(index)}.mp4`, new Uint8Array([index])),
  }))
  const after = (rig: FarEnd, ms: number): Promise<void> =>
    new Promise((resolve) => void rig.clock.setTimeout(resolve, ms))

  it('storage and service: the state is waiting until both are back', async () => {
    const line = { isDown: false }
    const { service } = serviceOf((operation) => (operation === 'create' ? MANY : line.isDown ? noWay() : undefined))
    const rig = createFarEnd({
      service,
      storage: async (request, body) => {
        if (line.isDown) return noWay()
        await after(rig, 5_000)
        line.isDown = rig.clock.monotonicNow() > 8_000 && rig.clock.monotonicNow() < 600_000
        return goodStorage(request, body) ?? noWay()
      },
    })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: clips })
    const ended = endOf(upload)
    await until(rig, upload, 'waiting')
    await rig.clock.advance(20_000)
    const { states, waits } = watch(upload)
    while (rig.clock.monotonicNow() < 600_000) await rig.clock.step()

    expect(states).toEqual([])
    expect(new Set(waits.map(({ host }) => host))).toEqual(new Set(['store.example:443', 'service.example:443']))
    line.isDown = false
    expect((await rig.settled(ended)).report).toMatchObject({ status: 'confirmed' })
  })

  it('the answer to one call does not end the wait of another, and bytes that move do', async () => {
    const pause: Answer = { status: 429, headers: { 'retry-after': '290' } }
    let confirms = 0
    let sends = 0
    const { service } = serviceOf((operation) => (operation === 'create' ? MANY : undefined))
    const rig = createFarEnd({
      service: async (request, body) => {
        if (request.method !== 'PATCH') return (await service(request, body)) ?? noWay()
        confirms += 1
        if (confirms === 1) await after(rig, 20_000)
        return confirms === 1 ? pause : { status: 200 }
      },
      storage: async (request, body) => {
        sends += 1
        // The second and third are long without a byte, the others quick.
        await after(rig, sends === 2 || sends === 3 ? 30_000 : 10)
        return goodStorage(request, body) ?? noWay()
      },
    })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: clips })
    const { states } = watch(upload)
    const ended = endOf(upload)
    await until(rig, upload, 'waiting')
    const sentBefore = sends
    await until(rig, upload, 'uploading')

    expect(sends).toBeGreaterThan(sentBefore)
    expect(states).toEqual(['uploading', 'waiting', 'uploading'])
    await rig.settled(ended)
  })

  it('a storage that was out of reach before a pause is not waited for after it', async () => {
    const line = { isDown: true }
    const { service } = serviceOf((operation) => (operation === 'create' ? MANY : undefined))
    const pause: Answer = { status: 429, headers: { 'retry-after': '5' } }
    let confirms = 0
    const rig = createFarEnd({
      service: (request, body) =>
        request.method === 'PATCH' && (confirms += 1) === 1 ? pause : service(request, body),
      storage: (request, body) => (line.isDown ? noWay() : goodStorage(request, body)),
    })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: clips })
    await until(rig, upload, 'waiting')
    upload.pause()
    await until(rig, upload, 'paused')
    line.isDown = false
    const { states } = watch(upload)
    upload.resume()

    expect(await rig.settled(upload.done())).toMatchObject({ status: 'confirmed' })
    expect(states).toEqual(['uploading', 'settling', 'confirmed'])
  })
})

describe('a requested analysis', () => {
  it('tells that the service is waited for, at its segments and while it polls', async () => {
    let isBack = false
    const service = ({ url }: { readonly url: string }): Answer | Error => {
      if (!isBack) return noWay()
      if (url.includes('segment')) return { status: 200, body: { analysis_segment_id: 3 } }
      return { status: 200, body: { id: 5, status: 'completed' } }
    }
    const rig = createFarEnd({ service, storage: goodStorage })
    const analysis = rig.uplink.requestAnalysis({ name: 'n', primary: { movementTypeId: 1, domHand: 'RHA' } })
    const watched = rig.uplink.watchAnalysis(5)
    const waits: UploadEvents['waiting'][] = []
    const polled: UploadEvents['waiting'][] = []
    analysis.on('waiting', (wait) => waits.push(wait))
    watched.on('waiting', (wait) => polled.push(wait))
    // Both questions are asked before the first timer fires, which else is that of the deadline.
    await rig.clock.advance(0)
    while (waits.length < 5 || polled.length < 5) await rig.clock.step()
    isBack = true

    expect(await rig.settled(analysis.done())).toMatchObject({ status: 'completed' })
    expect(await rig.settled(watched.done())).toMatchObject({ status: 'completed' })
    for (const wait of [...waits, ...polled]) {
      expect(wait).toMatchObject({ host: 'service.example:443', reason: 'its name was not found' })
      expect(wait.untilMs).toBeGreaterThan(wait.sinceMs)
    }
  })

  it('stops at once while it waits', async () => {
    const rig = createFarEnd({ service: noWay, storage: goodStorage })
    const watched = rig.uplink.watchAnalysis(5)
    watched.on('waiting', () => watched.stop())

    expect(await rig.settled(watched.done())).toMatchObject({ status: 'stopped' })
    expect(rig.clock.monotonicNow()).toBeLessThan(5_000)
    expect(rig.clock.pending).toBe(0)
  })
})
