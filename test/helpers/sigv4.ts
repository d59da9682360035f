// Pre-signs S3 addresses with AWS Signature Version 4, for tests against a real store.

import { createHash, createHmac } from 'node:crypto'
import type { SignedFor } from './scripted-s3.ts'

export interface SigV4Options {
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
  /** Default `us-east-1`. */
  readonly region?: string
  /** Seconds that an address lives. Default 900. */
  readonly lifeSeconds?: number
  /** The time of signing. Default now. */
  readonly signedAt?: Date
}

const METHODS = { create: 'POST', part: 'PUT', list: 'GET', complete: 'POST', abort: 'DELETE', head: 'HEAD' }

/** The address for an operation on an object in the bucket. */
export function presignS3(options: SigV4Options, request: SignedFor): { url: string } {
  const query = new Map<string, string>()
  if (request.operation === 'create') query.set('uploads', '')
  if (request.uploadId !== undefined) query.set('uploadId', request.uploadId)
  if (request.partNumber !== undefined) query.set('partNumber', String(request.partNumber))
  if (request.partNumberMarker !== undefined) query.set('part-number-marker', String(request.partNumberMarker))
  return { url: presign(options, METHODS[request.operation], request.key, query) }
}

/** The address for any method on a key. The empty key is the bucket. No header but the host is signed. */
export function presign(options: SigV4Options, method: string, key: string, query = new Map<string, string>()): string {
  const { endpoint, bucket, accessKey, secretKey, region = 'us-east-1', lifeSeconds = 900 } = options
  const { host, protocol } = new URL(endpoint)
  const time = (options.signedAt ?? new Date()).toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const path = `/${[bucket, ...(key === '' ? [] : key.split('/'))].map(encode).join('/')}`
  const all = new Map([
    ...query,
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', `${accessKey}/${scope}`],
    ['X-Amz-Date', time],
    ['X-Amz-Expires', String(lifeSeconds)],
    ['X-Amz-SignedHeaders', 'host'],
  ])
  const canonicalQuery = [...all]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join('&')
  const canonical = [method, path, canonicalQuery, `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n')
  const digest = createHash('sha256').update(canonical).digest('hex')
  const toSign = ['AWS4-HMAC-SHA256', time, scope, digest].join('\n')
  const key4 = scope.split('/').reduce<Buffer | string>((secret, step) => hmac(secret, step), `AWS4${secretKey}`)
  const signature = createHmac('sha256', key4).update(toSign).digest('hex')
  return `${protocol}//${host}${path}?${canonicalQuery}&X-Amz-Signature=${signature}`
}

function hmac(secret: Buffer | string, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest()
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
