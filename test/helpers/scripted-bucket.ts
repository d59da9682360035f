// A bucket over plain node:http, as a service with the AWS SDK and its clients with their addresses see it. It uses the store
// of scripted-s3, tells operations apart by method and query, and has a script of faults. It does not check signatures.

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createStore, failure, xml, type Answer, type ScriptedS3, type Upload } from './scripted-s3.ts'

export type BucketOperation =
  'create' | 'part' | 'list' | 'complete' | 'abort' | 'head' | 'put' | 'get' | 'remove' | 'uploads' | 'bucket' | 'cors'

/** `work`: whether the request is carried out before the fault. Without `answer` the connection ends without one. */
export interface BucketFault {
  readonly operation: BucketOperation | 'every'
  /** Counts the requests of that operation, from 1, since the script was set. */
  readonly nth: number | 'every'
  readonly work?: boolean
  readonly answer?: Answer
}

export interface ScriptedBucket {
  readonly origin: string
  /** In order of arrival, each with its address. */
  readonly requests: readonly { readonly operation: BucketOperation; readonly url: URL; readonly body: Buffer }[]
  readonly objects: ScriptedS3['objects']
  readonly uploads: ReadonlyMap<string, Upload>
  /** Sets the faults from now on, in place of the previous ones. */
  script(...faults: readonly BucketFault[]): void
  count(operation: BucketOperation): number
  /** Called before an operation is carried out, which waits for it. */
  before: (operation: BucketOperation, url: URL) => void | Promise<void>
  /** Stores a part without a request, like one that arrives late. */
  arriveLate(uploadId: string, partNumber: number): void
  close(): Promise<void>
}

export async function startScriptedBucket(): Promise<ScriptedBucket> {
  const objects: ScriptedS3['objects'] = new Map()
  const uploads = new Map<string, Upload>()
  const store = createStore({ pageSize: 1 }, uploads, objects)
  const requests: { operation: BucketOperation; url: URL; body: Buffer }[] = []
  let faults: readonly BucketFault[] = []
  let counts = new Map<BucketOperation | 'every', number>()

  function carryOut(operation: BucketOperation, url: URL, body: Buffer): Answer {
    const key = url.pathname.replace(/^\/[^/]*\/?/, '')
    const at = { key, operation: 'head' } as const
    const uploadId = url.searchParams.get('uploadId') ?? ''
    const partNumber = Number(url.searchParams.get('partNumber'))
    const partNumberMarker = Number(url.searchParams.get('part-number-marker'))
    switch (operation) {
      case 'put':
        objects.set(key, { bytes: body, etag: `"${md5(body)}"`, modifiedAtMs: Date.now() })
        return { status: 200, headers: { etag: `"${md5(body)}"` } }
      case 'get':
        return objects.has(key) ? { status: 200 } : failure(404, 'NoSuchKey', '')
      case 'remove':
        objects.delete(key)
        return { status: 204 }
      case 'uploads':
        return xml('ListMultipartUploadsResult', [...uploads].map(uploadXml).join(''))
      case 'bucket':
      case 'cors':
        return { status: 200 }
      default:
        return store[operation]({ ...at, uploadId, partNumber, partNumberMarker }, body)
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://bucket')
    const operation = operationOf(request.method ?? '', url)
    requests.push({ operation, url, body })
    for (const name of [operation, 'every'] as const) counts.set(name, (counts.get(name) ?? 0) + 1)
    const fault = faults.find(
      (one) =>
        (one.operation === operation || one.operation === 'every') &&
        (one.nth === 'every' || one.nth === counts.get(one.operation)),
    )
    await bucket.before(operation, url)
    const done = fault === undefined || fault.work === true ? carryOut(operation, url, body) : undefined
    const told = fault === undefined ? done : fault.answer
    if (told === undefined) {
      response.destroy()
      return
    }
    response.writeHead(told.status, told.headers ?? {}).end(told.body ?? '')
  }

  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('error', () => undefined)
    request.on('end', () => void answer(request, response, Buffer.concat(pieces)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bucket: ScriptedBucket = {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    ...{ requests, objects, uploads },
    script(...next) {
      faults = next
      counts = new Map()
    },
    count: (operation) => counts.get(operation) ?? 0,
    before: () => undefined,
    arriveLate: (uploadId, partNumber) => void store.keep(uploadId, partNumber, Buffer.from('late')),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return bucket
}

function operationOf(method: string, { pathname, searchParams: query }: URL): BucketOperation {
  if (query.has('uploads')) return method === 'POST' ? 'create' : 'uploads'
  if (query.has('cors')) return 'cors'
  if (query.has('uploadId')) {
    if (method === 'POST') return 'complete'
    if (method === 'PUT') return 'part'
    return method === 'DELETE' ? 'abort' : 'list'
  }
  if (method === 'HEAD') return /^\/[^/]+\/?$/.test(pathname) ? 'bucket' : 'head'
  if (method === 'PUT') return 'put'
  return method === 'DELETE' ? 'remove' : 'get'
}

function uploadXml([uploadId, { key }]: readonly [string, Upload]): string {
  return `<Upload><Key>${key}</Key><UploadId>${uploadId}</UploadId></Upload>`
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex')
}
