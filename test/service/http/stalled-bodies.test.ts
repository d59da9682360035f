// Real time: sockets on which nothing comes any more. The limit is 500 ms here.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'

import { goneSignal } from '../../../src/service/http/gone-signal.ts'
import { endIfStalled } from '../../../src/service/http/stalled-bodies.ts'
import {
  API_KEY,
  openCaptureSession,
  put,
  register,
  startUnderTest,
  startWithObjectsIn,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let service: ServiceUnderTest
beforeAll(async () => {
  service = await startUnderTest({ bodyIdleMs: 500 })
})
afterAll(() => service.close())

it.each([
  ['an operation', '/mocap_session', `x-api-key: ${API_KEY}\r\n`],
  ['no operation, without a credential', '/nowhere', ''],
])('ends a call to %s whose body stops coming', async (_, path, credential) => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
  await once(socket, 'connect')

  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${credential}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"half`,
  )
  socket.resume()

  await expect(once(socket, 'close')).resolves.toBeDefined()
})

it('watches no body any more whose client was refused and left', async () => {
  const anHour = 3_600_000
  const patient = await startUnderTest({ bodyIdleMs: anHour })
  const began = vi.spyOn(globalThis, 'setInterval')
  const ended = vi.spyOn(globalThis, 'clearInterval')
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await patient.close()
  })
  const socket = connect(patient.port, '127.0.0.1').on('error', () => undefined)

  socket.write(
    `POST /mocap_session HTTP/1.1\r\nHost: x\r\nx-api-key: ${API_KEY}\r\nContent-Type: application/json\r\n` +
      'Content-Length: 999999999\r\n\r\n{"half',
  )
  const [reply] = (await once(socket, 'data')) as [Buffer]
  expect(reply.toString()).toContain('body_too_large')
  socket.destroy()

  const watches = began.mock.results
    .filter((_, call) => began.mock.calls[call]?.[1] === anHour)
    .map(({ value }) => value as NodeJS.Timeout)
  expect(watches).toHaveLength(1)
  await expect.poll(() => ended.mock.calls.flat()).toEqual(expect.arrayContaining(watches))
})

/** What a call looks like to a service that looked up its credential until the caller had left. */
async function callOfSomeoneWhoLeft(): Promise<{ request: IncomingMessage; response: ServerResponse }> {
  const server = createServer()
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"half')
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  socket.destroy()
  await once(response, 'close')
  return { request, response }
}

it('watches no body whose client has left already', async () => {
  const { request } = await callOfSomeoneWhoLeft()
  const began = vi.spyOn(globalThis, 'setInterval')
  const ended = vi.spyOn(globalThis, 'clearInterval')
  onTestFinished(() => void vi.restoreAllMocks())

  endIfStalled(request, { bodyIdleMs: 5, leastBytesPerSecond: 0 })

  const [watch] = began.mock.results
  await expect.poll(() => ended.mock.calls.flat()).toContain(watch?.value)
})

it('does no long work for a caller who has left already', async () => {
  const { response } = await callOfSomeoneWhoLeft()

  expect(goneSignal({ raw: response }).aborted).toBe(true)
})

it('lets go of an answer that its caller does not take', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-untaken-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const patient = await startWithObjectsIn(dataDir)
  const sessionId = await openCaptureSession(patient)
  const { 'a.action': address } = await register(patient, sessionId, ['a.action'])
  // More than the kernel keeps for a reader who does not read.
  expect((await put(address!, new Uint8Array(16 * 1024 ** 2))).status).toBe(200)
  const { items } = (await patient.call('GET', '/stored')).json as { items: { url: string }[] }
  const { pathname, search } = new URL(items[0]!.url)
  await patient.close()
  const hasty = await startWithObjectsIn(dataDir, { bodyIdleMs: 1_000, stopWithinMs: 3_600_000 })
  const socket = connect(hasty.port, '127.0.0.1').on('error', () => undefined)
  onTestFinished(() => void socket.destroy())

  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await once(socket, 'readable')

  // Else it would wait for the answer's end, for an hour.
  await expect(hasty.close()).resolves.toBeUndefined()
})
