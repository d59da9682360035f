// A storage whose socket is really closed in the middle of an upload, for minutes of simulated time, and a machine that
// sleeps while real connections are open. The clock goes on only while no request is under way.

import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'

import { createUplink, undiciTransport, type Transport, type Upload, type UploadEvents } from '../../src/node.ts'
import { refusingAddress } from '../../src/testing/refusing-address.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { answering, httpAnswer, scriptedServer } from '../../src/testing/scripted-server.ts'
import { MIB, sample, VIDEO } from './rig.ts'

const PARTS = 8
const MINUTE_MS = 60_000

interface Scene {
  readonly upload: Upload
  readonly clock: ReturnType<typeof createSimulatedClock>
  readonly waits: UploadEvents['waiting'][]
  readonly retries: UploadEvents['retry'][]
  readonly bytesOfPart: Map<number, number>
  /** Most requests at once since the last time it was set to 0. */
  most: number
  connections: number
  /** The next PUT is not answered; resolves when it is there. */
  holdNext(): Promise<void>
  /** Resets every connection and refuses new ones. */
  goAway(): Promise<void>
  comeBack(): Promise<void>
  /** Lets real requests end and simulated time pass, looking at `each` step, until it settles. */
  until<T>(promise: Promise<T>, each?: () => Promise<void>): Promise<T>
}

async function begin(options: {
  readonly giveUpAfterMs: number
  readonly goesAwayAfter: number
  /** Of the gateway before the service, while nobody is behind it. */
  readonly answerOf?: (method: string) => string | undefined
  readonly clock?: Scene['clock']
}): Promise<Scene> {
  const { clock = createSimulatedClock() } = options
  const sockets = new Set<Socket>()
  const bytesOfPart = new Map<number, number>()
  const [waits, retries]: [Scene['waits'], Scene['retries']] = [[], []]
  const address = await refusingAddress()
  let [inFlight, held] = [0, undefined as (() => void) | undefined]
  let server: Server
  const listen = (): Promise<void> => {
    server = createServer((request, response) => {
      const part = Number(new URL(request.url ?? '', 'http://any').searchParams.get('partNumber'))
      held?.()
      if (held !== undefined) return void (held = undefined)
      let bytes = 0
      request.on('data', (piece: Buffer) => (bytes += piece.byteLength))
      request.on('error', () => undefined)
      request.on('end', () => {
        bytesOfPart.set(part, bytes)
        response.setHeader('etag', `"x-${String(part)}"`).end()
        if (bytesOfPart.size === options.goesAwayAfter) response.once('close', () => void scene.goAway())
      })
    })
    server.on('connection', (socket) => {
      scene.connections += 1
      sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => undefined))
    })
    return new Promise((resolve) => server.listen(address.port, '127.0.0.1', resolve))
  }
  const real = undiciTransport()
  const transport: Transport = {
    ...real,
    async send(request) {
      scene.most = Math.max(scene.most, (inFlight += 1))
      return real.send(request).finally(() => (inFlight -= 1))
    },
  }
  const scene: Scene = {
    ...{ clock, waits, retries, bytesOfPart, most: 0, connections: 0, upload: undefined! },
    holdNext: () => new Promise((resolve) => (held = resolve)),
    async goAway() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.resetAndDestroy()
      await closed
    },
    comeBack: listen,
    async until(promise, each) {
      const state: { isSettled: boolean } = { isSettled: false }
      void promise.finally(() => (state.isSettled = true)).catch(() => undefined)
      while (!state.isSettled) {
        await clock.advance(0)
        if (inFlight > 0) continue
        await each?.()
        await clock.step()
      }
      return promise
    },
  }
  await listen()
  const info = Array.from({ length: PARTS }, (_, index) => ({
    url: `${address.origin}/k?partNumber=${String(index + 1)}&sig=1`,
  }))
  const opened = { upload_session_id: 's', pre_signed_urls: [{ session_file_id: 'f', info }] }
  const service = await scriptedServer(
    answering(({ method }) => options.answerOf?.(method) ?? httpAnswer(200, { body: JSON.stringify(opened) })),
  )
  const uplink = createUplink({
    ...{ baseUrl: service.origin, credentials: { apiKey: 'k' }, clock, transport, verify: 'off', concurrency: 2 },
    ...{ retries: 2, giveUpAfterMs: options.giveUpAfterMs },
  })
  const files = [sample('night.mp4', PARTS * 5 * MIB)]
  const upload = uplink.uploadVideos({ ...VIDEO, files, partSizeBytes: 5 * MIB })
  upload.on('waiting', (wait) => waits.push(wait))
  upload.on('retry', (retry) => retries.push(retry))
  onTestFinished(async () => {
    await uplink.close()
    await scene.goAway()
    await address.close()
    await service.close()
  })
  return Object.assign(scene, { upload })
}

it('waits through minutes in which the storage refuses connections, probes with one part, and uses up no attempts', async () => {
  const scene = await begin({ giveUpAfterMs: 60 * MINUTE_MS, goesAwayAfter: 3 })
  const { clock, upload, waits } = scene
  const probes: number[] = []
  let isBack = false

  const report = await scene.until(upload.done(), async () => {
    if (waits.length === 0 || isBack) return
    if (clock.wallNow() - waits[0]!.sinceMs < 5 * MINUTE_MS) {
      // What was under way when the storage went is not a probe.
      if (waits.length > 1) probes.push(scene.most)
      scene.most = 0
      return
    }
    isBack = true
    expect(upload.state).toBe('waiting')
    await scene.comeBack()
  })

  expect([report.status, isBack]).toEqual(['confirmed', true])
  expect([...scene.bytesOfPart.values()]).toEqual(Array.from({ length: PARTS }, () => 5 * MIB))
  expect(Math.max(...probes.slice(1))).toBe(1)
  expect(new Set(waits.map(({ sinceMs }) => sinceMs)).size).toBe(1)
  // While it is asked no time of a next try is told.
  const nextMs = waits.flatMap(({ untilMs }) => untilMs ?? [])
  const gaps = nextMs.slice(1).map((untilMs, index) => untilMs - nextMs[index]!)
  expect(nextMs.length).toBeGreaterThan(8)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(MINUTE_MS + 1)
})

it('gives a storage up that stays away, at its time and not before', async () => {
  const scene = await begin({ giveUpAfterMs: 10 * MINUTE_MS, goesAwayAfter: 2 })
  const { clock, waits } = scene

  const failure = await scene.until(scene.upload.done().catch((error: unknown) => error))

  expect(failure).toMatchObject({
    code: 'ERR_UPLOAD_HOST_UNREACHABLE',
    report: { status: 'failed', files: [{ name: 'night.mp4', status: 'unfinished' }] },
  })
  expect(clock.wallNow() - waits[0]!.sinceMs).toBeGreaterThanOrEqual(10 * MINUTE_MS)
  expect(clock.wallNow() - waits[0]!.sinceMs).toBeLessThan(12 * MINUTE_MS)
})

it('waits through minutes in which a gateway finds no service behind it, at the create and at the confirmation', async () => {
  const clock = createSimulatedClock()
  const asked: string[] = []
  const firstMs: Record<string, number> = {}
  const scene = await begin({
    ...{ clock, giveUpAfterMs: 60 * MINUTE_MS, goesAwayAfter: 99 },
    answerOf(method) {
      asked.push(method)
      const nowMs = clock.wallNow()
      const forMs = nowMs - (firstMs[method] ??= nowMs)
      // What a create may have done it would do twice.
      const status = method === 'POST' ? 503 : [502, 503, 504][asked.length % 3]!
      const body = '<html><h1>Bad Gateway</h1></html>'
      return forMs < 5 * MINUTE_MS ? httpAnswer(status, { headers: ['content-type: text/html'], body }) : undefined
    },
  })

  const report = await scene.until(scene.upload.done())

  expect(report).toMatchObject({ status: 'confirmed', hasPossibleOrphan: false })
  const beganMs = (method: string): number => firstMs[method]!
  expect(beganMs('PATCH') - beganMs('POST')).toBeGreaterThanOrEqual(5 * MINUTE_MS)
  expect(clock.wallNow() - beganMs('PATCH')).toBeGreaterThanOrEqual(5 * MINUTE_MS)
  for (const method of ['POST', 'PATCH']) expect(asked.filter((one) => one === method).length).toBeGreaterThan(10)
  expect(new Set(scene.waits.map(({ operation }) => operation))).toEqual(
    new Set(['videoUploads.create', 'videoUploads.confirm']),
  )
  for (const { sinceMs, giveUpAtMs } of scene.waits)
    expect(giveUpAtMs! - sinceMs).toBeGreaterThanOrEqual(60 * MINUTE_MS)
})

it('takes a machine that slept for that, not for a stall, and sends on new connections', async () => {
  const scene = await begin({ giveUpAfterMs: 60 * MINUTE_MS, goesAwayAfter: 99 })
  const held = scene.holdNext()
  const done = scene.upload.done()
  await scene.until(held)
  const before = scene.connections

  scene.clock.suspend(45 * MINUTE_MS)
  while (scene.retries.length === 0) await scene.clock.step()
  const report = await scene.until(done)

  expect(report.status).toBe('confirmed')
  expect(scene.retries[0]!.error.message).toContain('this machine was suspended or busy for')
  expect(scene.retries.some(({ error }) => error.message.includes('no further on the line'))).toBe(false)
  expect(scene.connections).toBeGreaterThan(before)
})
