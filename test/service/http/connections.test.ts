// One connection with many requests at once: what it may hold, and what it must let go of.

import { once } from 'node:events'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import { openCaptureSession, put, register, startWithObjectsIn, type ServiceUnderTest } from '../service-under-test.ts'

/** More than the kernel keeps for a reader who does not read. */
const OBJECT_BYTES = 16 * 1024 ** 2
/** Sooner than garbage collection, which closes files too. */
const AT_ONCE = { timeout: 20_000 }

let dataDir: string
let service: ServiceUnderTest
let reading: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'service-pipelined-'))
  service = await startWithObjectsIn(dataDir)
  const { 'a.action': address } = await register(service, await openCaptureSession(service), ['a.action'])
  expect((await put(address!, new Uint8Array(OBJECT_BYTES))).status).toBe(200)
  const { items } = (await service.call('GET', '/stored')).json as { items: { url: string }[] }
  const { pathname, search } = new URL(items[0]!.url)
  reading = `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true })
})

function connection(): Socket {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return socket
}

/** How many times this process has an object open. */
async function openObjects(): Promise<number> {
  const fds = await readdir('/proc/self/fd')
  const paths = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
  return paths.filter((path) => path.startsWith(join(dataDir, 'objects', 'stored'))).length
}

it('answers sixteen requests that come at once, in their order, and sixteen more on the same connection', async () => {
  const socket = connection()
  let text = ''
  socket.on('data', (bytes: Buffer) => (text += bytes.toString()))

  for (const sent of [16, 32]) {
    const ids = [...Array(sent).keys()].slice(-16)
    socket.write(ids.map((id) => `GET /healthz HTTP/1.1\r\nHost: x\r\nx-request-id: ${id}\r\n\r\n`).join(''))
    await expect.poll(() => text.match(/"ok"/g)).toHaveLength(sent)
  }

  expect([...text.matchAll(/x-request-id: (\d+)/g)].map(([, id]) => Number(id))).toEqual([...Array(32).keys()])
})

it.skipIf(process.platform !== 'linux')('reads no object for a connection that is gone', async () => {
  const socket = connection()

  socket.write(reading.repeat(3))
  await expect.poll(openObjects).toBe(3)
  socket.destroy()

  await expect.poll(openObjects, AT_ONCE).toBe(0)
})

it.skipIf(process.platform !== 'linux')('ends a connection that asks for more, and answers none of it', async () => {
  const socket = connection()
  let bytes = 0
  socket.on('data', (piece: Buffer) => (bytes += piece.length))

  socket.write(reading.repeat(17))

  await once(socket, 'close')
  expect(bytes).toBeLessThan(OBJECT_BYTES)
  await expect.poll(openObjects, AT_ONCE).toBe(0)
})

it('writes nothing into an answer that has begun when what follows is no request', async () => {
  const socket = connection()
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => {
    if (pieces.push(piece) === 1) socket.write('nonsense\r\n\r\n')
  })

  socket.write(reading)

  await once(socket, 'close')
  const received = Buffer.concat(pieces)
  expect(received.length).toBeLessThan(OBJECT_BYTES)
  expect(received.toString('latin1').match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200'])
})
