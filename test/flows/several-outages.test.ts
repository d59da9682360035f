// Several that are waited for at once, and a requested analysis that waits.

import { describe, expect, it } from 'vitest'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import type { UploadEvents } from '../../src/flows/upload.ts'
import { createFarEnd, endOf, goodStorage, VIDEO, type Answer, type FarEnd } from '../security/far-end.ts'
import { noWay, serviceOf, watch, until } from './outage-rig.ts'

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
