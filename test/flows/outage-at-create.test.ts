// A service that is waited for at the create of a session.

import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import type { ServiceClient } from '../../src/client/operations.ts'
import type { CreatedSession, Protocol } from '../../src/core/ports.ts'
import { videoSession } from '../../src/protocols/video-session.ts'
import { createFarEnd, endOf, goodStorage, VIDEO, type Answer } from '../security/far-end.ts'
import { source, files, SESSION, noWay, serviceOf, watch, until } from './outage-rig.ts'

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
