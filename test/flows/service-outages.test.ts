// A service that is out of reach, or says that it cannot, while an upload or an analysis needs it: both say so as they do of
// the storage, go on by themselves, and let themselves be paused and given up at once.

import { describe, expect, it } from 'vitest'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import type { UploadError } from '../../src/core/errors.ts'
import type { UploadEvents } from '../../src/flows/upload.ts'
import { CAPTURE, createFarEnd, endOf, goodStorage, VIDEO, type Answer, type FarEnd } from '../security/far-end.ts'
import { source, files, noWay, noWayBy, serviceOf, watch, until } from './outage-rig.ts'

const MINUTE_MS = 60_000

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

it('a call that waits for the network is made again as soon as that may be back', async () => {
  let isBack = false
  const { service, asked } = serviceOf((operation) => (operation === 'confirm' && !isBack ? noWay() : undefined))
  const rig = createFarEnd({ service, storage: goodStorage })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  const { waits } = watch(upload)
  await until(rig, upload, 'waiting')
  while ((waits.at(-1)?.untilMs ?? 0) - rig.clock.wallNow() < 4_000) await rig.clock.step()
  const tries = asked.length
  isBack = true

  rig.uplink.probeNow()
  await rig.clock.advance(0)

  expect(await upload.done()).toMatchObject({ status: 'confirmed' })
  expect(asked).toHaveLength(tries + 1)
})

it('a service that has never answered has its three tries in their time, however often the network may be back', async () => {
  const { service, asked } = serviceOf(() => noWayBy('ECONNREFUSED'))
  const rig = createFarEnd({ service, storage: goodStorage })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  const outcome = upload.done().catch((error: unknown) => (error as UploadError).code)

  for (let turn = 0; turn < 5; turn += 1) {
    await rig.clock.advance(0)
    rig.uplink.probeNow()
  }

  expect(asked).toHaveLength(1)
  expect(await rig.settled(outcome)).toBe('ERR_UPLOAD_HOST_UNREACHABLE')
  expect(asked).toHaveLength(3)
})

it.each([429, 502, 503, 504, 511])(
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
