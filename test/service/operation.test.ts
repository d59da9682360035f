// What whoever runs the service sees of it: readiness, metrics, request ids and headers, and how it ends.

import dns from 'node:dns'
import { once } from 'node:events'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import {
  answerTo,
  API_KEY,
  openCaptureSession,
  openVideoSession,
  put,
  register,
  startUnderTest,
  startWithObjectsIn,
  TOKEN,
  type ServiceUnderTest,
} from './service-under-test.ts'

let service: ServiceUnderTest
let dataDir: string
const logLines: string[] = []
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'service-operation-'))
  service = await startWithObjectsIn(dataDir, { log: { write: (line) => void logLines.push(line) } })
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true })
})

const open = (path: string, at: ServiceUnderTest = service) => at.call('GET', path, undefined, {})

describe('/readyz', () => {
  it('answers for database and store, each by itself', async () => {
    logLines.length = 0
    const ready = await open('/readyz')
    const incoming = join(dataDir, 'objects/incoming')
    await rename(incoming, `${incoming}-away`)
    const away = await open('/readyz')
    await rename(`${incoming}-away`, incoming)
    const back = await open('/readyz')

    expect([ready.status, ready.json]).toEqual([200, { status: 'ok', database: 'ok', store: 'ok' }])
    expect([away.status, away.json]).toEqual([503, { status: 'unavailable', database: 'ok', store: 'unavailable' }])
    expect(back.status).toBe(200)
    expect((await open('/healthz')).status).toBe(200)
    // A reason such as that of a late answer would not tell.
    expect(logLines.join('').match(/the service is not ready: [^"]*/g)).toEqual(['the service is not ready: its store'])
  })

  it.each(['/readyz', '/healthz', '/openapi.json', '/metrics', '/players', '/stored'])(
    'HEAD, by which monitors ask, is answered like GET, without a body: %s',
    async (path) => {
      const [head, get] = [await service.call('HEAD', path), await service.call('GET', path)]

      expect([head.status, head.text, get.status]).toEqual([200, '', 200])
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    },
  )
})

describe('request ids', () => {
  it.each(['abc-1.2_3', 'x'.repeat(64)])('that do no harm are kept: %s', async (id) => {
    const answer = await service.call('GET', '/players', undefined, { 'x-api-key': API_KEY, 'x-request-id': id })

    expect(answer.headers.get('x-request-id')).toBe(id)
    expect(logLines.join('')).toContain(`"reqId":"${id}"`)
  })

  it.each(['', 'x'.repeat(65), 'a b', 'a"b', '{"a":1}', 'ä'])('that could are replaced: %j', async (id) => {
    const answer = await service.call('GET', '/nothing', undefined, { 'x-request-id': id })

    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('are on refusals and on answers of the storage too', async () => {
    const refused = await open('/requested_analyses')
    const unsigned = await answerTo(`${service.url}/objects/captures/x/1`, { method: 'PUT', body: 'x' })

    expect([refused.status, unsigned.status]).toEqual([403, 403])
    for (const { headers } of [refused, unsigned]) expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('every answer', () => {
  it.each(['/objects/captures/x/1', '/metrics'])(
    'of %s gives a browser nothing to run, frame or guess',
    async (path) => {
      const { headers } = await open(path)

      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      )
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('SAMEORIGIN')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('x-powered-by')).toBeNull()
    },
  )

  it('of the page of the interface has the policy of that page', async () => {
    expect((await open('/docs')).headers.get('content-security-policy')).toContain('style-src')
  })
})

describe('metrics', () => {
  it('count requests by route and status, and have no id, name, key or address in them', async () => {
    const at = await startUnderTest()
    try {
      const beganAtMs = performance.now()
      const sessionId = await openCaptureSession(at)
      const names = await register(at, sessionId, ['secret-name.action'])
      await put(names['secret-name.action']!, 'x')
      const { sessionId: videoId } = await openVideoSession(at, [{ bytes: 1, chunks: 1 }])
      await at.call('DELETE', `/upload_videos/${videoId}`)
      await at.call('DELETE', `/upload_videos/${videoId}x`)
      await at.call('DELETE', `/upload_videos/${videoId}`, undefined, {})
      await open('/of/nobody', at)
      const { status, headers, text } = await open('/metrics', at)

      expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
      const counted = [...text.matchAll(/^mocap_uplink_request_seconds_count\{(.*)\} (\d+)$/gm)].map((found) =>
        found.slice(1).join(' '),
      )
      expect(counted.sort()).toEqual([
        'operation="DELETE /upload_videos/:id",status="200" 1',
        'operation="DELETE /upload_videos/:id",status="401" 1',
        'operation="DELETE /upload_videos/:id",status="404" 1',
        'operation="POST /mocap_session",status="200" 1',
        'operation="POST /mocap_session_file",status="200" 1',
        'operation="POST /upload_videos",status="200" 1',
        'operation="PUT /objects/*",status="200" 1',
        'operation="none",status="404" 1',
      ])
      const sums = [...text.matchAll(/^mocap_uplink_request_seconds_sum\{.*\} (\S+)$/gm)].map(([, sum]) => Number(sum))
      const seconds = sums.reduce((all, sum) => all + sum)
      expect(seconds).toBeGreaterThan(0)
      // One came after another, except for the moment in which an answer is on its way.
      expect(seconds).toBeLessThan((2 * (performance.now() - beganAtMs)) / 1000)
      expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m)
      for (const secret of [sessionId, videoId, 'secret-name', API_KEY, TOKEN, 'nobody', 'X-Amz'])
        expect(text).not.toContain(secret)
    } finally {
      await at.close()
    }
  })

  it('count a request whose client left before its answer, as 499', async () => {
    const at = await startUnderTest()
    onTestFinished(() => at.close())
    const upload = await invitedPut(at, 10)

    upload.on('error', () => undefined).destroy()

    const counted = async () =>
      /^mocap_uplink_request_seconds_count\{operation="PUT .*/m.exec((await open('/metrics', at)).text)
    await expect
      .poll(async () => (await counted())?.[0])
      .toBe('mocap_uplink_request_seconds_count{operation="PUT /objects/*",status="499"} 1')
  })

  it('are told without the memory where no file can be opened to read that from', async () => {
    const rss = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
      throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' })
    })
    onTestFinished(() => rss.mockRestore())

    const { status, text } = await open('/metrics')

    expect(status).toBe(200)
    expect(text).toMatch(/^process_cpu_seconds_total /m)
    expect(text).not.toMatch(/^process_resident_memory_bytes/m)
  })

  it('are for the holder of the token only, where one is set', async () => {
    const at = await startUnderTest({ metricsToken: 'scrape-5c' })
    const scrape = (authorization: string) => at.call('GET', '/metrics', undefined, { authorization })
    try {
      expect((await open('/metrics', at)).status).toBe(401)
      expect((await scrape(`Bearer ${TOKEN}`)).status).toBe(401)
      expect((await scrape('scrape-5c')).status).toBe(401)
      expect((await scrape('Bearer scrape-5c')).status).toBe(200)
      expect((await scrape('bearer scrape-5c')).status).toBe(200)
    } finally {
      await at.close()
    }
  })

  it('are at their own port only, where one is set', async () => {
    const at = await startUnderTest({ metricsPort: 0 })
    try {
      expect(at.metricsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
      expect(new URL(at.metricsUrl!).port).not.toBe(String(at.port))
      expect((await open('/metrics', at)).status).toBe(404)
      const scraped = await answerTo(at.metricsUrl!, {})
      expect([scraped.status, scraped.text.includes('operation="none",status="404"')]).toEqual([200, true])
      expect((await answerTo(at.metricsUrl!.replace('metrics', 'healthz'), {})).status).toBe(404)
    } finally {
      await at.close()
    }
    await expect(fetch(at.metricsUrl!)).rejects.toThrow()
  })
})

it('listens on one address of localhost, so that all connections have the same bounds', async () => {
  const both = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
  const resolve = dns.lookup as (...asked: unknown[]) => void
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation((...asked: unknown[]) => {
    const [name, options, done] = asked as [string, { all?: boolean }, (error: null, all: typeof both) => void]
    if (name === 'localhost' && options.all === true) done(null, both)
    else resolve(...asked)
  })
  onTestFinished(() => lookup.mockRestore())
  const local = await startUnderTest({ host: 'localhost' })
  onTestFinished(() => local.close())

  const socket = connect(local.port, '127.0.0.2')

  await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED')
  expect(local.url).toBe(`http://localhost:${local.port}`)
})

describe('a stop', () => {
  it.each([
    ['nothing was asked yet', [], ''],
    ['half of a head has come', [], 'GET /healthz HT'],
    ['half of a head has come after a whole call', ['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'], 'GET /healthz HT'],
  ])('waits for no connection on which %s', async (_, calls, text) => {
    const at = await startUnderTest({ stopWithinMs: 3_600_000 })
    const socket = connect(at.port, '127.0.0.1')
    await once(socket, 'connect')
    for (const call of calls) {
      socket.write(call)
      await once(socket, 'data')
    }
    socket.write(text)
    const closed = once(socket.resume(), 'close')
    // The server has accepted it by then.
    await open('/healthz', at)

    await expect(at.close()).resolves.toBeUndefined()
    await closed
  })

  it('answers a call that comes just as it begins like any other', async () => {
    const at = await startUnderTest({ stopWithinMs: 3_600_000 })
    const socket = connect(at.port, '127.0.0.1')
    await once(socket, 'connect')
    // Node 26 closes at once what has sent nothing yet.
    socket.write('GET /sessions HTTP/1.1\r\n')
    await open('/healthz', at)
    // On a busy machine the search for idle connections could come before the rest of the call.
    const search = vi.spyOn(globalThis, 'setInterval').mockReturnValue(0 as unknown as NodeJS.Timeout)
    onTestFinished(() => search.mockRestore())

    const stopped = at.close()
    socket.write(`Host: x\r\nx-api-key: ${API_KEY}\r\n\r\n`)
    const answer = String((await once(socket, 'data'))[0])

    expect(answer).toMatch(/^HTTP\/1.1 200 [^]*\r\nconnection: close\r\n[^]*\r\naccess-control-allow-origin: \*\r\n/i)
    await stopped
  })

  it('finishes what is in flight, and has its connection not used again', async () => {
    const at = await startUnderTest({ stopWithinMs: 3_600_000 })
    const upload = await invitedPut(at, 5)

    const stopped = at.close()
    upload.end('hello')
    const [{ statusCode, headers }] = (await once(upload, 'response')) as [IncomingMessage]

    expect([statusCode, headers.connection]).toEqual([200, 'close'])
    await stopped
  })

  it('cuts what is not finished in time', async () => {
    const at = await startUnderTest({ stopWithinMs: 1 })
    const upload = await invitedPut(at, 10)
    const failed = once(upload, 'error')

    await at.close()

    await failed
  })
})

/** A PUT of so many bytes that the service has asked for. */
async function invitedPut(at: ServiceUnderTest, bytes: number): Promise<ClientRequest> {
  const address = (await register(at, await openCaptureSession(at), ['a.action']))['a.action']!
  const upload = httpRequest(address, { method: 'PUT', headers: { 'content-length': bytes, expect: '100-continue' } })
  upload.flushHeaders()
  await once(upload, 'continue')
  return upload
}
