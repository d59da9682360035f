// How slow is too slow: under a clock that only the test moves.

import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtemp, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { bodyPace } from '../../../src/service/http/body-pace.ts'
import { API_KEY, openCaptureSession, register, startUnderTest, startWithObjectsIn } from '../service-under-test.ts'

const MINUTE_MS = 60_000

/** Whether a body that brings so many bytes at these minutes is kept at each of them. */
function kept(leastBytesPerSecond: number, steps: readonly (readonly [minute: number, bytes: number])[]): boolean[] {
  let nowMs = 0
  const pace = bodyPace(leastBytesPerSecond, () => nowMs)
  return steps.map(([minute, bytes]) => {
    nowMs = minute * MINUTE_MS
    return pace.keepsUp(bytes)
  })
}

describe('a pace of at least 100 bytes a second', () => {
  it('is judged over ten minutes, and again over the next ten', () => {
    expect(kept(100, [[9, 1], [10, 59_999]])).toEqual([true, true]) // prettier-ignore
    expect(kept(100, [[9, 1], [10, 59_998]])).toEqual([true, false]) // prettier-ignore
    expect(kept(100, [[10, 1e9], [20, 59_999]])).toEqual([true, false]) // prettier-ignore
  })

  it('lets a phone live that was without a line for nine minutes', () => {
    expect(kept(100, [[9.9, 1], [10, 2_500 * 24]])).toEqual([true, true]) // prettier-ignore
  })

  it('does not count a wait of our own', () => {
    expect(kept(100, [[9, 0], [18, 1], [19, 1]])).toEqual([true, true, false]) // prettier-ignore
  })

  it('is none if no bytes are asked for', () => {
    expect(kept(0, [[10, 1], [1_000, 1]])).toEqual([true, true]) // prettier-ignore
  })
})

/** From now on ten minutes pass between any two looks at the clock by which bodies are judged. */
function hurryTime(): void {
  let nowMs = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 10 * MINUTE_MS))
  onTestFinished(() => void vi.restoreAllMocks())
}

it('ends a PUT that trickles, and stores nothing of it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-trickle-'))
  const service = await startWithObjectsIn(dataDir)
  onTestFinished(async () => {
    await service.close()
    await rm(dataDir, { recursive: true })
  })
  const address = (await register(service, await openCaptureSession(service), ['a.action']))['a.action']!
  const { pathname, search } = new URL(address)
  const incoming = join(dataDir, 'objects/incoming')
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
  let answer = ''
  socket.on('data', (bytes: Buffer) => (answer += bytes.toString()))
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf`)
  const sizes = async () =>
    Promise.all((await readdir(incoming)).map(async (name) => (await stat(join(incoming, name))).size))
  await expect.poll(sizes).toEqual([4])

  hurryTime()
  socket.write('.')

  await once(socket, 'close')
  expect(answer).toMatch(/^HTTP\/1.1 400 /)
  expect(answer).toContain('access-control-allow-origin: *')
  expect(answer).toContain('<Code>RequestTimeout</Code><Message>The body came more slowly than 100 bytes a second.')
  await expect.poll(sizes).toEqual([])
})

it('ends a PUT also by its last bytes, which came while the disk took those before them, and stores nothing', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-trickle-'))
  const lines: string[] = []
  const service = await startWithObjectsIn(dataDir, { log: { write: (line) => void lines.push(line) } })
  onTestFinished(async () => {
    await service.close()
    await rm(dataDir, { recursive: true })
  })
  const address = (await register(service, await openCaptureSession(service), ['a.action']))['a.action']!
  const { pathname, search } = new URL(address)
  const begun = nextRequest()
  const write = await holdNextWrite()
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
  let answer = ''
  socket.on('data', (bytes: Buffer) => (answer += bytes.toString()))
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf`)
  const goOn = await write.begun

  hurryTime()
  socket.write('.'.repeat(996))
  const request = await begun
  await expect.poll(() => request.complete).toBe(true)
  goOn()
  await once(socket, 'close')

  expect(answer).toMatch(/^HTTP\/1.1 400 /)
  await expect.poll(() => readdir(join(dataDir, 'objects/incoming'))).toEqual([])
  expect(await readdir(join(dataDir, 'objects/stored'))).toEqual([])
  expect(lines.join('')).not.toContain('X-Amz')
})

/** The next request that a server of this process begins to read. */
function nextRequest(): Promise<IncomingMessage> {
  return new Promise((resolve) => {
    const take = (message: unknown): void => {
      diagnostics.unsubscribe('http.server.request.start', take)
      resolve((message as { readonly request: IncomingMessage }).request)
    }
    diagnostics.subscribe('http.server.request.start', take)
  })
}

/** Holds the next write of any file. `begun` settles with the function that lets it go on. */
async function holdNextWrite(): Promise<{ readonly begun: Promise<() => void> }> {
  const file = await open('/dev/null', 'w')
  await file.close()
  const files = Object.getPrototypeOf(file) as FileHandle
  const { writeFile } = files
  const begun = new Promise<() => void>((resolve) => {
    vi.spyOn(files, 'writeFile').mockImplementationOnce(async function (this: FileHandle, ...what) {
      await new Promise<void>(resolve)
      return writeFile.apply(this, what)
    })
  })
  return { begun }
}

it.each([
  ['an operation', '/mocap_session', API_KEY],
  ['one who was refused', '/mocap_session', 'wrong'],
])('closes the connection of %s whose body trickles', async (_, path, key) => {
  const service = await startUnderTest({ bodyIdleMs: 200 })
  onTestFinished(() => service.close())
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)))
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`,
  )
  socket.resume()
  // Never silent for as long as the service waits.
  const trickle = setInterval(() => socket.write(' '), 50)
  onTestFinished(() => clearInterval(trickle))

  hurryTime()

  expect(await closed).toBe(true)
})
