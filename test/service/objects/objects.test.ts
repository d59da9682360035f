// The object addresses of the service: what a PUT stores, and everything that is refused there.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import {
  answerTo,
  API_KEY,
  openCaptureSession,
  openVideoSession,
  put,
  rawStatus,
  register,
  startWithObjectsIn,
  TOKEN,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let service: ServiceUnderTest
let dataDir: string
let address: string
let sessionId: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'service-objects-'))
  service = await startWithObjectsIn(dataDir)
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true })
})
beforeEach(async () => {
  sessionId = await openCaptureSession(service)
  address = (await register(service, sessionId, ['a.action']))['a.action']!
})

/** A connection that speaks HTTP as it likes. */
async function socketTo(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

async function everythingFrom(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', () => {})
  await once(socket, 'close')
  return text
}

function head(url: string, headers: string): string {
  const { pathname, search, host } = new URL(url)
  return `PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n\r\n`
}

async function readBack(): Promise<Buffer | undefined> {
  const { json } = await service.call('GET', '/stored?limit=1000')
  const items = (json as { items: { session_id: string; url: string }[] }).items
  const item = items.find((one) => one.session_id === sessionId)
  return item === undefined ? undefined : Buffer.from(await (await fetch(item.url)).arrayBuffer())
}

describe('a PUT', () => {
  it('stores the bytes and answers their quoted MD5', async () => {
    const bytes = new Uint8Array(3_000_001).map((_, index) => (index * 7919) % 251)

    const { status, headers, text } = await put(address, bytes)

    expect([status, text]).toEqual([200, ''])
    expect(headers.get('etag')).toBe(`"${createHash('md5').update(bytes).digest('hex')}"`)
    expect((await readBack())?.equals(bytes)).toBe(true)
  })

  it.each([
    ['application/json'],
    ['application/x-www-form-urlencoded'],
    ['video/mp4'],
    ['multipart/form-data'],
    ['no type; at all'],
  ])('keeps a body of type %s as it is', async (type) => {
    expect((await put(address, '{ not read "', { 'content-type': type })).status).toBe(200)
    expect(String(await readBack())).toBe('{ not read "')
  })

  it('checks a Content-MD5: a right one is stored, a wrong one 400, nonsense 400', async () => {
    const md5 = (text: string) => ({ 'content-md5': createHash('md5').update(text).digest('base64') })

    const wrong = await put(address, 'hello', md5('other'))
    const nonsense = await put(address, 'hello', { 'content-md5': 'abc' })

    expect([wrong.status, wrong.text.includes('<Code>BadDigest</Code>')]).toEqual([400, true])
    expect([nonsense.status, nonsense.text.includes('<Code>InvalidDigest</Code>')]).toEqual([400, true])
    expect(await readBack()).toBeUndefined()
    expect((await put(address, 'hello', md5('hello'))).status).toBe(200)
  })

  it('for a file that a restored database does not know is 404, and nothing is stored', async () => {
    const ownDir = await mkdtemp(join(tmpdir(), 'service-objects-'))
    await copyFile(join(dataDir, 'signing-key'), join(ownDir, 'signing-key'))
    const restored = await startWithObjectsIn(ownDir)
    onTestFinished(async () => {
      await restored.close()
      await rm(ownDir, { recursive: true })
    })

    const { status, text } = await put(address.replace(service.url, restored.url), 'hello')

    // By this code, a client that resumes asks for a new address.
    expect([status, text.includes('<Code>NoSuchUpload</Code>')]).toEqual([404, true])
    expect(await readdir(join(ownDir, 'objects/stored'))).toEqual([])
  })

  it('may name the host before the path', async () => {
    expect(await rawStatus(service.url, 'PUT', address)).toBe(200)
    expect(await rawStatus(service.url, 'PUT', address.replace('/objects', '/objects/.'))).toBe(403)
  })

  it('of a piece of a body is 400, and stores nothing in place of the whole', async () => {
    const { status, text } = await put(address, 'hel', { 'content-range': 'bytes 0-2/5' })

    expect([status, text.includes('<Code>InvalidArgument</Code>')]).toEqual([400, true])
    expect(await readBack()).toBeUndefined()
  })

  it('that is cut in the middle stores nothing, and leaves what was there', async () => {
    await put(address, 'whole')
    const blobs = (await readdir(join(dataDir, 'objects/stored'))).length
    const socket = await socketTo(address)
    socket.write(head(address, 'Content-Length: 1000000') + 'x'.repeat(500_000))
    await incomingCount((count) => count === 1)

    socket.destroy()

    await incomingCount((count) => count === 0)
    expect(String(await readBack())).toBe('whole')
    expect((await readdir(join(dataDir, 'objects/stored'))).length).toBe(blobs)
  })

  it('that was under way when its session was cancelled is refused, and its bytes are dropped', async () => {
    const { sessionId: id, files } = await openVideoSession(service, [{ bytes: 10, chunks: 1 }])
    const blobs = (await readdir(join(dataDir, 'objects/stored'))).length
    const socket = await socketTo(files[0]!.urls[0]!)
    socket.write(head(files[0]!.urls[0]!, 'Content-Length: 10\r\nConnection: close') + 'first')
    await incomingCount((count) => count === 1)

    expect((await service.call('DELETE', `/upload_videos/${id}`)).status).toBe(200)
    socket.write('-last')

    const text = await everythingFrom(socket)
    expect(text).toMatch(/^HTTP\/1.1 404 /)
    expect(text).toContain('<Code>NoSuchUpload</Code>')
    expect((await readdir(join(dataDir, 'objects/stored'))).length).toBe(blobs)
  })

  it('without a length, or chunked, is 411', async () => {
    for (const headers of ['Transfer-Encoding: chunked', 'X-Nothing: 1']) {
      const socket = await socketTo(address)
      socket.write(head(address, headers))
      const text = await everythingFrom(socket)
      expect(text).toMatch(/^HTTP\/1.1 411 /)
      expect(text).toContain('<Code>MissingContentLength</Code>')
    }
  })

  it('of more than 5 GiB is 400 before a byte of it is read', async () => {
    const socket = await socketTo(address)
    socket.write(head(address, `Content-Length: ${5 * 1024 ** 3 + 1}`))

    const text = await everythingFrom(socket)

    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(text).toContain('<Code>EntityTooLarge</Code>')
    expect(text).toContain('<MaxSizeAllowed>5368709120</MaxSizeAllowed>')
  })

  it('of 5 GiB is not refused for its size', async () => {
    const socket = await socketTo(address)
    socket.write(head(address, `Content-Length: ${5 * 1024 ** 3}\r\nExpect: 100-continue`))

    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()

    // A small disk has no room for it.
    expect(answer.toString()).toMatch(/^HTTP\/1.1 (?:100|507) /)
  })

  // Real time: a socket that says nothing, to a service that is patient for half a second only.
  it('whose body stops coming is 400 RequestTimeout and closed', async () => {
    const ownDir = await mkdtemp(join(tmpdir(), 'service-impatient-'))
    const impatient = await startWithObjectsIn(ownDir, { bodyIdleMs: 500 })
    onTestFinished(async () => {
      await impatient.close()
      await rm(ownDir, { recursive: true })
    })
    const own = (await register(impatient, await openCaptureSession(impatient), ['a.action']))['a.action']!
    const socket = await socketTo(own)
    socket.write(head(own, 'Content-Length: 10') + 'half')

    const text = await everythingFrom(socket)

    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(text).toContain('<Code>RequestTimeout</Code>')
    expect(text).toContain('access-control-allow-origin: *')
    await incomingCount((count) => count === 0, ownDir)
    expect((await impatient.call('GET', '/stored')).json).toMatchObject({ items: [] })
  })

  it.each([
    ['x-api-key', API_KEY],
    ['authorization', `Bearer ${TOKEN}`],
    ['authentication', `Bearer ${TOKEN}`],
    ['authorization', 'Basic bWU6bWU='],
  ])('with a credential in %s is 400 and stores nothing', async (name, value) => {
    const { status, text } = await put(address, 'hello', { [name]: value })

    expect([status, text.includes('<Code>InvalidArgument</Code>')]).toEqual([400, true])
    expect(await readBack()).toBeUndefined()
  })

  it('two at once leave one of the two, whole', async () => {
    const [one, two] = ['1'.repeat(400_000), '2'.repeat(400_000)]
    const blobs = (await readdir(join(dataDir, 'objects/stored'))).length

    await Promise.all([put(address, one), put(address, two)])

    expect([one, two]).toContain(String(await readBack()))
    expect((await readdir(join(dataDir, 'objects/stored'))).length).toBe(blobs + 1)
  })
})

describe('an address', () => {
  it('that has expired is 403 with the times in S3 XML; a moment earlier it is good', async () => {
    const start = service.clock()
    service.advance(3_600_000)
    expect((await put(address, 'in time')).status).toBe(200)
    service.advance(1)

    const { status, headers, text } = await put(address, 'late')

    expect(status).toBe(403)
    expect(headers.get('content-type')).toBe('application/xml')
    const time = (ms: number) => new Date(ms).toISOString().replace('.000', '')
    expect(text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired</Message>' +
        `<X-Amz-Expires>3600</X-Amz-Expires><Expires>${time(start + 3_600_000)}</Expires>` +
        `<ServerTime>${time(start + 3_600_000)}</ServerTime></Error>`,
    )
    expect(String(await readBack())).toBe('in time')
    service.advance(999)
  })

  it('that was changed, moved to another file or used with another method is 403', async () => {
    const other = (await register(service, sessionId, ['b.action']))['b.action']!
    const query = address.slice(address.indexOf('?'))

    const changed = await put(address.replace('X-Amz-Expires=3600', 'X-Amz-Expires=3601'), 'x')
    const moved = await put(other.slice(0, other.indexOf('?')) + query, 'x')
    const read = await answerTo(address, { method: 'GET' })
    const bare = await put(address.slice(0, address.indexOf('?')), 'x')

    expect([changed, moved, read].map(({ status }) => status)).toEqual([403, 403, 403])
    expect(changed.text).toContain('<Code>SignatureDoesNotMatch</Code>')
    expect([bare.status, bare.text.includes('<Code>AccessDenied</Code>')]).toEqual([403, true])
  })

  it('with any one character of its path or query changed stores nothing', async () => {
    const { pathname, search } = new URL(address)
    const target = pathname + search
    const statuses = new Set<number>()
    for (let index = '/objects/'.length; index < target.length; index += 3) {
      const replacement = target[index] === 'a' ? 'b' : 'a'
      statuses.add(await rawStatus(service.url, 'PUT', target.slice(0, index) + replacement + target.slice(index + 1)))
    }

    expect([...statuses]).toEqual([403])
    expect(await readBack()).toBeUndefined()
  })

  it('for reading is not one for writing', async () => {
    await put(address, 'kept')
    const { json } = await service.call('GET', '/stored?limit=1000')
    const { url } = (json as { items: { session_id: string; url: string }[] }).items.find(
      (item) => item.session_id === sessionId,
    )!

    expect((await put(url, 'changed')).status).toBe(403)
    expect(String(await readBack())).toBe('kept')
  })

  it('lets pages of any origin read the ETag, refusals included', async () => {
    const good = await put(address, 'x')
    const refused = await put(address + '0', 'x')
    const preflight = await answerTo(address, { method: 'OPTIONS' })

    for (const { headers } of [good, refused, preflight]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toContain('ETag')
    }
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
  })
})

/** Waits until the folder of half-written bodies holds as many files as wanted; the test's limit ends it. */
async function incomingCount(isWanted: (count: number) => boolean, folder = dataDir): Promise<void> {
  while (!isWanted((await readdir(join(folder, 'objects/incoming'))).length)) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}
