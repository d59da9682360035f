// The service's calls for the measured flows: sessions, registrations and confirmations are answered at once, with
// addresses at the discarding server. It checks and counts what it is told.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ServiceCounts {
  /** Different capture names that got an address. */
  readonly registered: number
  /** Different video files that were confirmed with the ETag of every part. */
  readonly confirmed: number
}

export interface BenchService {
  readonly origin: string
  counts(): ServiceCounts
  close(): Promise<void>
}

interface VideoEntry {
  readonly number_of_chunks: number
  readonly file_id?: number
}

/** The ETag that the discarding server gives to every part. */
const ETAG = '"thrown-away"'

/** Allows pages of another origin to call (CORS). */
const FOR_PAGES = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, PATCH, GET, DELETE',
  'access-control-allow-headers': '*',
  'access-control-max-age': '7200',
}

type Body = Readonly<Record<string, unknown>>

/** Serves one run. `storageOrigin` is the origin of its addresses. */
export async function startBenchService(storageOrigin: string): Promise<BenchService> {
  const partCounts: number[] = []
  const registered = new Set<string>()
  const confirmed = new Set<unknown>()

  function addressed(entry: VideoEntry): Body {
    const fileId = partCounts.push(entry.number_of_chunks)
    const url = (index: number): string => `${storageOrigin}/video/${fileId}?partNumber=${index + 1}`
    const info = Array.from({ length: entry.number_of_chunks }, (_, index) => ({ url: url(index) }))
    return { session_file_id: fileId, file_id: entry.file_id, info }
  }

  function answer(operation: string, body: Body): Body | undefined {
    switch (operation) {
      case 'POST /upload_videos':
        return { upload_session_id: 'bench', pre_signed_urls: (body['files'] as VideoEntry[]).map(addressed) }
      case 'PATCH /upload_videos': {
        const parts = body['file_part_info'] as { part_number: number; etag: string }[]
        const isGiven = parts.every(({ part_number, etag }, at) => part_number === at + 1 && etag === ETAG)
        if (!isGiven || parts.length !== partCounts[Number(body['affected_file_id']) - 1]) return undefined
        confirmed.add(body['affected_file_id'])
        return {}
      }
      case 'POST /mocap_session':
        return { id: 'bench', session_id: 'bench', status: 'pending' }
      case 'POST /mocap_session_file': {
        const names = body['filenames'] as string[]
        for (const name of names) registered.add(name)
        return Object.fromEntries(names.map((name) => [name, `${storageOrigin}/capture/${encodeURIComponent(name)}`]))
      }
      default:
        return undefined
    }
  }

  const server = createServer((request, response) => {
    void readJson(request).then((body) => {
      const reply = answer(`${request.method ?? ''} ${request.url ?? ''}`, body)
      const isPreflight = request.method === 'OPTIONS'
      const status = reply === undefined && !isPreflight ? 400 : 200
      response.writeHead(status, { 'content-type': 'application/json', ...FOR_PAGES })
      response.end(JSON.stringify(reply ?? { message: 'not what was asked for' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    counts: () => ({ registered: registered.size, confirmed: confirmed.size }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

async function readJson(request: IncomingMessage): Promise<Body> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return pieces.length === 0 ? {} : (JSON.parse(Buffer.concat(pieces).toString()) as Body)
}
