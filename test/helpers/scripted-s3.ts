// A small S3 over plain node:http, with the strictness of real stores and a script of faults. It signs its own
// addresses, each valid for one method, key and upload. Stored bytes are kept in memory.

import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What an address is signed for. */
export interface SignedFor {
  readonly operation: 'create' | 'part' | 'list' | 'complete' | 'abort' | 'head'
  readonly key: string
  readonly uploadId?: string
  readonly partNumber?: number
  readonly partNumberMarker?: number
}

/** `work`: whether the request is carried out before the fault. Without `answer` the connection ends without one. */
export interface S3Fault {
  readonly operation: SignedFor['operation']
  /** Counts the requests of that operation, from 1. */
  readonly nth: number | 'every'
  readonly work?: boolean
  readonly answer?: { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
}

export interface S3Request extends SignedFor {
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  status?: number
}

export interface ScriptedS3Options {
  readonly faults?: readonly S3Fault[]
  /** Parts in one page of a list. Default 1,000. */
  readonly pageSize?: number
  /** The smallest size of a part other than the last. Default 0, so that tests stay small. */
  readonly minPartBytes?: number
  /** ETags are not MD5s and are new with each PUT. Default false. */
  readonly hasOpaqueEtags?: boolean
}

export interface Upload {
  readonly key: string
  readonly parts: Map<number, { readonly bytes: Buffer; readonly etag: string }>
}

export interface ScriptedS3 {
  readonly origin: string
  readonly requests: readonly S3Request[]
  /** Completed objects by key. */
  readonly objects: Map<string, { readonly bytes: Buffer; readonly etag: string; readonly modifiedAtMs: number }>
  readonly uploads: ReadonlyMap<string, Upload>
  sign(request: SignedFor): { url: string }
  /** Refuses all addresses signed so far as expired. */
  expireAddresses(): void
  /** Stores a part in an upload without a request, like a late arrival. Returns its ETag. */
  arriveLate(uploadId: string, partNumber: number, bytes: Buffer): string
  requestsOf(operation: SignedFor['operation']): S3Request[]
  close(): Promise<void>
}

export async function startScriptedS3(options: ScriptedS3Options = {}): Promise<ScriptedS3> {
  const signed = new Map<string, SignedFor & { isExpired: boolean }>()
  const uploads = new Map<string, Upload>()
  const requests: S3Request[] = []
  const objects: ScriptedS3['objects'] = new Map()
  const store = createStore(options, uploads, objects)
  const requestsOf = (operation: SignedFor['operation']) => requests.filter((one) => one.operation === operation)

  const answer = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const grant = signed.get(request.url ?? '')
    if (grant === undefined || grant.isExpired || METHODS[grant.operation] !== request.method) {
      const code = grant?.isExpired === true ? 'Request has expired' : 'no such signature'
      send(response, failure(403, grant?.isExpired === true ? 'AccessDenied' : 'SignatureDoesNotMatch', code))
      return
    }
    const record: S3Request = { ...grant, headers: request.headers, body }
    requests.push(record)
    const count = requestsOf(grant.operation).length
    const fault = options.faults?.find(
      ({ operation, nth }) => operation === grant.operation && (nth === 'every' || nth === count),
    )
    const reply = fault === undefined || fault.work === true ? store[grant.operation](grant, body) : undefined
    const told = fault === undefined ? reply : fault.answer
    if (told === undefined) {
      response.destroy()
      return
    }
    record.status = told.status
    send(response, told)
  }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('error', () => undefined)
    request.on('end', () => answer(request, response, Buffer.concat(pieces)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`

  return {
    ...{ origin, requests, objects, uploads, requestsOf },
    sign(request) {
      const query = new URLSearchParams({ 'X-Amz-Expires': '3600', 'X-Amz-Signature': randomBytes(16).toString('hex') })
      if (request.uploadId !== undefined) query.set('uploadId', request.uploadId)
      if (request.partNumber !== undefined) query.set('partNumber', String(request.partNumber))
      const target = `/bucket/${encodeURIComponent(request.key)}?${query.toString()}`
      signed.set(target, { ...request, isExpired: false })
      return { url: origin + target }
    },
    expireAddresses() {
      for (const grant of signed.values()) grant.isExpired = true
    },
    arriveLate: (uploadId, partNumber, bytes) => store.keep(uploadId, partNumber, bytes),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface Answer {
  readonly status: number
  readonly body?: string
  readonly headers?: Record<string, string>
}

const METHODS = { create: 'POST', part: 'PUT', list: 'GET', complete: 'POST', abort: 'DELETE', head: 'HEAD' }

/** The store's work for each operation. `keep` stores a part without a request. */
export function createStore(options: ScriptedS3Options, uploads: Map<string, Upload>, objects: ScriptedS3['objects']) {
  const { pageSize = 1_000, minPartBytes = 0, hasOpaqueEtags = false } = options
  const gone = failure(404, 'NoSuchUpload', 'The upload does not exist.')
  const etagOf = (bytes: Buffer): string =>
    hasOpaqueEtags ? randomBytes(10).toString('hex') : createHash('md5').update(bytes).digest('hex')
  const keep = (uploadId: string, partNumber: number, bytes: Buffer): string => {
    const etag = `"${etagOf(bytes)}"`
    uploads.get(uploadId)?.parts.set(partNumber, { bytes, etag })
    return etag
  }
  return {
    keep,
    create({ key }: SignedFor): Answer {
      const uploadId = `2~${randomBytes(8).toString('hex')}`
      uploads.set(uploadId, { key, parts: new Map() })
      return xml('InitiateMultipartUploadResult', `<Key>${escape(key)}</Key><UploadId>${uploadId}</UploadId>`)
    },
    part({ uploadId = '', partNumber = 0 }: SignedFor, body: Buffer): Answer {
      if (!uploads.has(uploadId)) return gone
      return { status: 200, headers: { etag: keep(uploadId, partNumber, body) } }
    },
    list({ uploadId = '', partNumberMarker = 0 }: SignedFor): Answer {
      const upload = uploads.get(uploadId)
      if (upload === undefined) return gone
      const rest = [...upload.parts].sort(([a], [b]) => a - b).filter(([partNumber]) => partNumber > partNumberMarker)
      const page = rest.slice(0, pageSize)
      const entries = page.map(
        ([partNumber, { bytes, etag }]) =>
          `<Part><PartNumber>${String(partNumber)}</PartNumber><ETag>${escape(etag)}</ETag><Size>${String(bytes.length)}</Size></Part>`,
      )
      const next = `<NextPartNumberMarker>${String(page.at(-1)?.[0] ?? 0)}</NextPartNumberMarker>`
      return xml(
        'ListPartsResult',
        `<Key>${escape(upload.key)}</Key>${next}<IsTruncated>${String(rest.length > page.length)}</IsTruncated>${entries.join('')}`,
      )
    },
    complete({ uploadId = '' }: SignedFor, body: Buffer): Answer {
      const upload = uploads.get(uploadId)
      if (upload === undefined) return gone
      const asked = body.toString().match(/<Part>.*?<\/Part>/gs) ?? []
      const parts = asked.map((one) => {
        const part = upload.parts.get(Number(/<PartNumber>(\d+)</.exec(one)?.[1]))
        const etag = /<ETag>([^<]*)</.exec(one)?.[1] ?? ''
        return part?.etag === etag.replaceAll('&quot;', '"') ? part : undefined
      })
      const found = parts.filter((part) => part !== undefined)
      if (found.length < parts.length || parts.length === 0) return failure(400, 'InvalidPart', 'A part is not there.')
      if (found.slice(0, -1).some(({ bytes }) => bytes.length < minPartBytes)) return failure(400, 'EntityTooSmall', '')
      const digests = found.map(({ bytes }) => createHash('md5').update(bytes).digest())
      const hash = createHash('md5').update(Buffer.concat(digests)).digest('hex')
      const etag = hasOpaqueEtags ? `"${randomBytes(9).toString('hex')}"` : `"${hash}-${String(found.length)}"`
      const bytes = Buffer.concat(found.map((part) => part.bytes))
      objects.set(upload.key, { bytes, etag, modifiedAtMs: Date.now() })
      uploads.delete(uploadId)
      return xml('CompleteMultipartUploadResult', `<ETag>${escape(etag)}</ETag>`)
    },
    abort({ uploadId = '' }: SignedFor): Answer {
      return uploads.delete(uploadId) ? { status: 204 } : gone
    },
    head({ key }: SignedFor): Answer {
      const object = objects.get(key)
      if (object === undefined) return { status: 404 }
      const { bytes, etag, modifiedAtMs } = object
      const modified = new Date(modifiedAtMs).toUTCString()
      return { status: 200, headers: { etag, 'content-length': String(bytes.length), 'last-modified': modified } }
    },
  }
}

function send(response: ServerResponse, { status, body = '', headers = {} }: Answer): void {
  response.writeHead(status, headers).end(body)
}

export function xml(root: string, inside: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</${root}>`
  return { status: 200, headers: { 'content-type': 'application/xml' }, body }
}

export function failure(status: number, code: string, message: string): Answer {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, body }
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
