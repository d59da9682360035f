// A connection that crawls at the end of a session, on real sockets: the server sees its part cut off, and then once more.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Protocol, Source } from '../../../src/core/ports.ts'
import { createUplink } from '../../../src/node.ts'
import { fastClock } from '../../helpers/fast-clock.ts'

const MIB = 1024 * 1024
/** Our time goes by so much faster than the server's. */
const HASTE = 4

it('is reset before it is whole, and its part goes once more on a new connection: one is whole', async () => {
  const server = await startServer({ crawlsOn: 3 })
  const uplink = createUplink({
    ...{ baseUrl: 'https://service.example', credentials: { apiKey: 'unused-0123456789' }, clock: fastClock(HASTE) },
    ...{ verify: 'off', concurrency: 4, timeouts: { stallMs: 3_600_000 } },
  })
  onTestFinished(() => uplink.close())
  const upload = uplink.upload({ protocol: plainPuts(server.origin), files: [{ source: zeros(128 * MIB) }] })

  const report = await upload.done()

  expect(report.status).toBe('confirmed')
  expect(server.log.filter((line) => line.endsWith('whole'))).toHaveLength(8)
  // Its kernel holds some of what crawled; read now, that ends before the part does.
  await server.crawledOut()
  expect(server.log.filter((line) => line.startsWith('3')).sort()).toEqual(['3 cut', '3 whole'])
})

it('is nobody where all connections are alike, also in the background, where round trips are measured beside them', async () => {
  const server = await startServer({ crawlsOn: undefined })
  const uplink = createUplink({
    ...{ baseUrl: 'https://service.example', credentials: { apiKey: 'unused-0123456789' }, clock: fastClock(HASTE) },
    ...{ verify: 'off', isBackground: true },
  })
  onTestFinished(() => uplink.close())

  const upload = uplink.upload({ protocol: plainPuts(server.origin), files: [{ source: zeros(32 * MIB) }] })

  expect((await upload.done()).status).toBe('confirmed')
  expect([...server.log].sort()).toEqual(['1 whole', '2 whole'])
  // Handshakes without a request: connections beyond those that carried the parts.
  expect(server.connections()).toBeGreaterThan(4)
})

/** Reads slowly, and the first request for one part so slowly that it would take a minute and a half. */
async function startServer({ crawlsOn }: { readonly crawlsOn: number | undefined }) {
  const log: string[] = []
  let hasCrawled = false
  let crawlMs = 400
  let onCrawledOut = (): void => undefined
  const crawled = new Promise<void>((resolve) => (onCrawledOut = resolve))
  /** Reads the one that crawls to its end, wherever that is. */
  const crawledOut = (): Promise<void> => {
    crawlMs = 0
    return crawled
  }
  let connectionCount = 0
  const server = createServer((request, response) => {
    const part = Number(request.url?.slice(1))
    let isWhole = false
    request.on('end', () => (isWhole = true))
    const isCrawling = part === crawlsOn && !hasCrawled
    hasCrawled ||= isCrawling
    request.on('close', () => {
      log.push(`${String(part)} ${isWhole ? 'whole' : 'cut'}`)
      if (isCrawling) onCrawledOut()
    })
    request.on('error', () => undefined)
    void readSlowly(request, () => (isCrawling ? crawlMs : 6)).then(() => {
      response.writeHead(200, { etag: `"part-${String(part)}"` }).end()
    })
  })
  server.on('connection', () => (connectionCount += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  return { origin, log, crawledOut, connections: () => connectionCount }
}

/** Settles when all is read, with a rest after each chunk. */
function readSlowly(request: IncomingMessage, restMs: () => number): Promise<void> {
  return new Promise((resolve) => {
    request.on('data', () => {
      request.pause()
      setTimeout(() => request.resume(), restMs())
    })
    request.on('end', resolve)
  })
}

function zeros(sizeBytes: number): Source {
  const done = () => Promise.resolve()
  return {
    name: 'clip.mp4',
    describe: () => Promise.resolve({ sizeBytes }),
    open: () => Promise.resolve({ read: done, verify: done, close: done }),
  }
}

function plainPuts(origin: string): Protocol {
  const units = { minBytes: 16 * MIB, maxBytes: 16 * MIB, maxCount: 100, multipleOfBytes: 1 }
  return {
    traits: { units, order: 'any', addressing: 'session', batchSize: 1 },
    create: (files) =>
      Promise.resolve({
        sessionId: 'session',
        files: files.map(({ fileIndex, partCount }) => ({
          fileIndex,
          serverFileId: 'file',
          addresses: Array.from({ length: partCount }, (_, index) => `${origin}/${String(index + 1)}`),
        })),
      }),
    request: () => ({ method: 'PUT', headers: {} }),
    judge: (reply, unit) => ({ kind: 'received', acceptedEnd: unit.end, etag: reply.headers['etag'] ?? '' }),
  }
}
