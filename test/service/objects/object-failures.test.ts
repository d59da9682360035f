// A disk that fails under the storage while a body is on its way.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readdir, rm, truncate, type FileHandle } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished, vi } from 'vitest'

import { freeBytes } from '../../../src/service/database/disk-room.ts'
import type { ServiceOptions } from '../../../src/service/index.ts'
import { canMount } from '../../helpers/can-mount.ts'
import {
  openCaptureSession,
  put,
  register,
  startUnderTest,
  startWithObjectsIn,
  type ServiceUnderTest,
} from '../service-under-test.ts'

const BODY_BYTES = 4_000_000

/** The prototype of all files that are open. */
async function openFiles(): Promise<FileHandle> {
  const file = await open('/dev/null', 'w')
  await file.close()
  return Object.getPrototypeOf(file) as FileHandle
}

/** Lets the next write of any file fail as the system fails it. */
async function failNextWrite(code: string): Promise<void> {
  const kind = await openFiles()
  const failure = Object.assign(new Error(`${code}: no space left on device, write`), { code })
  const write = vi.spyOn(kind, 'writeFile').mockRejectedValueOnce(failure)
  onTestFinished(() => write.mockRestore())
}

function head(url: string, headers: string): string {
  const { pathname, search, host } = new URL(url)
  return `PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n\r\n`
}

async function onDisk(options: ServiceOptions = {}): Promise<ServiceUnderTest & { readonly dataDir: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-full-'))
  const service = await startWithObjectsIn(dataDir, options)
  onTestFinished(async () => {
    await service.close()
    await rm(dataDir, { recursive: true })
  })
  return { ...service, dataDir }
}

async function captureAddress(service: ServiceUnderTest): Promise<string> {
  return (await register(service, await openCaptureSession(service), ['a.action']))['a.action']!
}

it('says that the disk is full, and takes the next request of that connection', async () => {
  const service = await onDisk()
  const address = await captureAddress(service)
  const socket = connect(service.port, '127.0.0.1').setEncoding('utf8')
  let answers = ''
  socket.on('data', (text: string) => (answers += text))
  await failNextWrite('ENOSPC')

  socket.write(head(address, `Content-Length: ${BODY_BYTES}`))
  socket.write(Buffer.alloc(BODY_BYTES))
  socket.write(head(address, 'Connection: close\r\nContent-Length: 5') + 'hello')
  await once(socket, 'close')

  expect(answers).toMatch(/^HTTP\/1.1 507 /)
  expect(answers).toMatch(/\r\nretry-after: 60\r\n/)
  expect(answers).toContain('<Code>InsufficientStorage</Code>')
  expect(answers).toMatch(/HTTP\/1.1 200 OK\r\n/)
})

it.skipIf(!canMount())(
  'keeps nobody out for a body that trickles, and refuses it once others have taken its room',
  async () => {
    const disk = await mkdtemp(join(tmpdir(), 'service-small-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m', 'tmpfs', disk])
    onTestFinished(async () => {
      execFileSync('umount', [disk])
      await rm(disk, { recursive: true })
    })
    const dataDir = join(disk, 'data')
    await (await startUnderTest({ dataDir })).close()
    const bodyBytes = 60 * 1024 ** 2
    // Room for one body and a half.
    const service = await startUnderTest({ dataDir, keepFreeBytes: (await freeBytes(disk)) - 1.5 * bodyBytes })
    onTestFinished(() => service.close())
    const begin = async (): Promise<Socket> => {
      const socket = connect(service.port, '127.0.0.1')
        .setEncoding('utf8')
        .on('error', () => undefined)
      socket.write(head(await captureAddress(service), `Content-Length: ${bodyBytes}\r\nConnection: close`))
      return socket
    }
    const incoming = join(dataDir, 'objects', 'incoming')
    const trickling = await begin()
    trickling.write('.')
    await expect.poll(() => readdir(incoming)).toHaveLength(1)

    const whole = await begin()
    whole.write(Buffer.alloc(bodyBytes))
    const [taken] = (await once(whole, 'data')) as [string]
    trickling.write(Buffer.alloc(bodyBytes - 1))
    const [refused] = (await once(trickling, 'data')) as [string]

    expect(taken).toMatch(/^HTTP\/1.1 200 /)
    expect(refused).toMatch(/^HTTP\/1.1 507 [^]*\r\nretry-after: 60\r\n/)
    expect(await readdir(incoming)).toEqual([])
  },
)

it('does not take a disk that stalls for a client that does', async () => {
  const anHour = 3_600_000
  const service = await onDisk({ bodyIdleMs: anHour })
  const [address, other] = [await captureAddress(service), await captureAddress(service)]
  const kind = await openFiles()
  let goOn: () => void = () => undefined
  const stall = new Promise<void>((resolve) => (goOn = resolve))
  const write = vi.spyOn(kind, 'writeFile').mockImplementationOnce(async function (this: FileHandle, bytes) {
    await stall
    return this.writeFile(bytes)
  })
  const began = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => {
    write.mockRestore()
    began.mockRestore()
  })
  /** What happens when the time is over in which a body must bring something, of each PUT. */
  const timeIsOver = () => began.mock.calls.filter(([, ms]) => ms === anHour).map(([call]) => call)

  const answer = put(address, new Uint8Array(BODY_BYTES))
  await expect.poll(() => write.mock.calls.length).toBe(1)
  const stalling = connect(service.port, '127.0.0.1').resume()
  const closed = once(stalling, 'close')
  stalling.write(head(other, 'Content-Length: 100'))
  await expect.poll(timeIsOver).toHaveLength(2)
  // Of the client that really stalls first: more of the other body waits to be written by then.
  for (const call of timeIsOver().reverse()) {
    call()
    await closed
  }
  goOn()

  expect((await answer).status).toBe(200)
})

it('says when to send a part again for which no file could be opened', async () => {
  const service = await onDisk()
  const address = await captureAddress(service)
  await failNextWrite('EMFILE')

  const { status, headers, text } = await put(address, 'hello')

  expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  expect(text).toContain('<Code>SlowDown</Code>')
})

it('ends a connection whose refused body stops coming', async () => {
  const service = await onDisk({ bodyIdleMs: 500 })
  const address = await captureAddress(service)
  const socket = connect(service.port, '127.0.0.1').resume()

  socket.write(head(address.replace(/Signature=\w{4}/, 'Signature=0000'), 'Content-Length: 100') + 'half')

  await expect(once(socket, 'close')).resolves.toBeDefined()
})

it('answers once where the disk fails and the rest of the body stops coming, and lives on', async () => {
  const service = await onDisk({ bodyIdleMs: 500 })
  const address = await captureAddress(service)
  const socket = connect(service.port, '127.0.0.1').setEncoding('utf8')
  let answers = ''
  socket.on('data', (text: string) => (answers += text))
  await failNextWrite('ENOSPC')

  socket.write(head(address, 'Content-Length: 100') + 'half')
  await once(socket, 'close')

  // A second answer, to the silence, would throw where nobody catches it, and end the process.
  expect(answers.match(/^HTTP\/1.1 \d+ /gm)).toEqual(['HTTP/1.1 507 '])
  expect((await service.call('GET', '/healthz')).status).toBe(200)
})

it.each([
  ['fewer', 3, /\r\n\r\nhel$/],
  ['more', 20, /\r\n\r\nhello againHTTP\/1.1 200 OK\r\n[^]*"ok"/],
])('lets nothing stand in the place of lost bytes: the disk has %s than were stored', async (_, bytes, answers) => {
  const service = await onDisk()
  await put(await captureAddress(service), 'hello again')
  const stored = join(service.dataDir, 'objects', 'stored')
  const [blob] = await readdir(stored)
  await truncate(join(stored, blob!), bytes)
  const { items } = (await service.call('GET', '/stored')).json as { items: { url: string }[] }
  const { pathname, search } = new URL(items[0]!.url)
  const socket = connect(service.port, '127.0.0.1').setEncoding('latin1')
  let text = ''
  socket.on('data', (piece: string) => (text += piece))

  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`)
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await once(socket, 'close')

  expect(text).toMatch(answers)
})

it('refuses what writes where half of what is to be kept free is gone; reading and removing go on', async () => {
  // A database that is there is opened on such a disk; a new one is not.
  const dataDir = await mkdtemp(join(tmpdir(), 'service-full-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  await (await startUnderTest({ dataDir })).close()
  const service = await startUnderTest({ dataDir, keepFreeBytes: 2 ** 60 })
  onTestFinished(() => service.close())

  const create = await service.call('POST', '/mocap_session', {})
  const update = await service.call('PATCH', '/requested_analyses/1', {})
  // Refused before it is read, so that no parsed body is kept while the disk is asked.
  const unread = await service.call('POST', '/mocap_session', '{"half')

  for (const { status, headers, json } of [create, update, unread]) {
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('60')
    expect(json).toMatchObject({ error: { code: 'unavailable', message: expect.stringContaining('disk') as string } })
  }
  expect((await service.call('GET', '/requested_analyses')).status).toBe(200)
  expect((await service.call('DELETE', '/upload_videos/no-such-session')).status).toBe(404)
})
