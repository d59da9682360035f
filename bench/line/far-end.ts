// The far end of a line: a server that discards bodies, and implements as much of the service, of S3's multipart upload and
// of tus as their clients need to finish. It counts what it receives; GET /count returns the counts and resets them. It
// prints `listening` once it listens, and `body` when the contestant's first body begins to arrive.
// Runs as a process of its own: far-end ADDRESS PORT

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import type { Range } from '../measure/arrival.ts'
import { readStamp, STAMP_BYTES } from '../measure/stamps.ts'

interface Count {
  bytes: number
  /** Bodies that came to their end, by their stamps. */
  ranges: Range[]
  puts: number
  /** From the first connection to the last answer to a body, ms. */
  ms: number
  /** Time of the first connection, ms since 1970. */
  beganAtMs: number
  /** From the first connection to the moment at which the count was asked for, ms. */
  untilMs: number
  /** From the first connection to the first body of the contestant, ms. */
  bodyAfterMs: number | null
  /** The largest number of bodies under way at once. */
  mostAtOnce: number
  /** Bytes in each tenth of a second since the first connection. Bytes to /other are counted separately, in `otherTenths`. */
  tenths: number[]
  otherTenths: number[]
}

const [address = '127.0.0.1', port = '8080'] = process.argv.slice(2)
const base = `http://${address}:${port}`
let count = newCount()
let firstMs: number | undefined
let underWay = 0
let lastId = 0

function newCount(): Count {
  return {
    bytes: 0,
    ranges: [],
    puts: 0,
    ms: 0,
    beganAtMs: 0,
    untilMs: 0,
    bodyAfterMs: null,
    mostAtOnce: 0,
    tenths: [],
    otherTenths: [],
  }
}

/** Reads a body and counts it. Resolves with its length, and rejects if it broke off. */
async function swallow(request: IncomingMessage): Promise<number> {
  let bytes = 0
  let front: Buffer = Buffer.alloc(0)
  const isOther = request.url?.startsWith('/other') ?? false
  const tenths = isOther ? count.otherTenths : count.tenths
  underWay += Number(!isOther)
  if (!isOther && count.bodyAfterMs === null) {
    count.bodyAfterMs = performance.now() - (firstMs ?? 0)
    process.stdout.write('body\n')
  }
  count.mostAtOnce = Math.max(count.mostAtOnce, underWay)
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      bytes += piece.byteLength
      if (front.length < STAMP_BYTES) front = Buffer.concat([front, piece.subarray(0, STAMP_BYTES)])
      const tenth = Math.floor((performance.now() - (firstMs ?? 0)) / 100)
      tenths[tenth] = (tenths[tenth] ?? 0) + piece.byteLength
      if (!isOther) count.bytes += piece.byteLength
    }
  } finally {
    underWay -= Number(!isOther)
  }
  const found = isOther ? undefined : readStamp(front)
  if (found !== undefined) count.ranges.push([found.file, found.at, bytes])
  return bytes
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = []
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
  return JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>
}

interface VideoFile {
  readonly file_id?: number
  readonly number_of_chunks: number
}

/** The service's calls, by method and path. */
const calls: Readonly<Record<string, (body: Record<string, unknown>) => unknown>> = {
  'POST /upload_videos': (body) => ({
    upload_session_id: `v${String(++lastId)}`,
    pre_signed_urls: (body['files'] as VideoFile[]).map(({ file_id, number_of_chunks }) => ({
      ...(file_id === undefined ? {} : { file_id }),
      session_file_id: ++lastId,
      info: Array.from({ length: number_of_chunks }, (_, index) => ({
        url: `${base}/storage/${String(lastId)}?partNumber=${String(index + 1)}`,
      })),
    })),
  }),
  'PATCH /upload_videos': () => ({}),
  'POST /mocap_session': (body) => {
    const id = `c${String(++lastId)}`
    return { ...body, id, session_id: id, status: 'pending' }
  },
  'POST /mocap_session_file': (body) =>
    Object.fromEntries((body['filenames'] as string[]).map((name) => [name, `${base}/storage/${String(++lastId)}`])),
}

/** Answers the requests that S3 and tus clients make around the bodies. */
function answerForeign(method: string, url: string, request: IncomingMessage, response: ServerResponse, bytes: number) {
  if (method === 'POST' && url.startsWith('/tus')) {
    response.writeHead(201, {
      location: `${base}/tus/${String(++lastId)}`,
      'tus-resumable': '1.0.0',
      'upload-offset': bytes,
    })
  } else if (method === 'PATCH') {
    const offset = Number(request.headers['upload-offset'] ?? 0) + bytes
    response.writeHead(204, { 'tus-resumable': '1.0.0', 'upload-offset': offset })
  } else if (url.includes('uploads')) {
    return response.end(
      '<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</Key><UploadId>u</UploadId></InitiateMultipartUploadResult>',
    )
  } else if (url.includes('uploadId=')) {
    return response.end('<CompleteMultipartUploadResult><ETag>"whole-1"</ETag></CompleteMultipartUploadResult>')
  }
  return response.end()
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request
  if (url === '/count') {
    count.untilMs = performance.now() - (firstMs ?? performance.now())
    response.end(JSON.stringify(count))
    count = newCount()
    firstMs = undefined
    return
  }
  const call = calls[`${method} ${url}`]
  if (call !== undefined) {
    const body = JSON.stringify(call(await readJson(request)))
    response.setHeader('content-type', 'application/json').end(body)
    return
  }
  const bytes = await swallow(request)
  const isBody = method === 'PUT' || method === 'PATCH'
  if (isBody) count.puts += 1
  response.once('finish', () => {
    if (isBody) count.ms = performance.now() - (firstMs ?? 0)
  })
  // The ETag is not an MD5: nobody here has hashed the body, so nobody may call it verified.
  if (method === 'PUT') response.setHeader('etag', '"discarded-1"').end()
  else answerForeign(method, url, request, response, bytes)
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy())
})
server.on('connection', (socket) => {
  // Whoever asks for the count is not a contestant.
  if (socket.remoteAddress === socket.localAddress || firstMs !== undefined) return
  firstMs = performance.now()
  count.beganAtMs = performance.timeOrigin + firstMs
})
server.keepAliveTimeout = 60_000
server.requestTimeout = 0
server.listen(Number(port), address, () => process.stdout.write('listening\n'))
