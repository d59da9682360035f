// The object store of the independent service: parts behind signed addresses, strict where real stores are strict.

import { createHash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

import type { Answer } from './independent-exchange.ts'
import type { IndependentServiceOptions, StoredPart } from './independent-records.ts'

/** One uploaded file, or as much of it as has been stored. */
export interface StoredObject {
  readonly key: string
  readonly uploadId: string
  readonly fileName: string
  /** False once its session is cancelled; nothing more is then stored. */
  isOpen: boolean
  /** Parts 1 to this number may be put. */
  readonly partCount: number
  readonly parts: Map<number, StoredPart & { readonly pieces: readonly Buffer[] }>
}

export interface SignedAddress {
  readonly object: StoredObject
  readonly partNumber: number
  readonly expiresAtMs: number
}

export interface Storage {
  createObject(fileName: string, partCount: number): StoredObject
  /** Path and query of a new address. The caller adds the origin. */
  sign(object: StoredObject, partNumber: number): string
  find(target: string): SignedAddress | undefined
  /** Stores the part for which the target is signed. Otherwise answers with the reason, as a real store would after the body. */
  put(target: string, headers: IncomingHttpHeaders, receivedAtMs: number, pieces: readonly Buffer[]): Answer
}

export function createStorage(options: IndependentServiceOptions): Storage {
  const { addressLifetimeSeconds = 3600, isDeadlineShown = true, etagStyle = 'quoted', now = Date.now } = options
  const addresses = new Map<string, SignedAddress>()
  let objectCount = 0

  return {
    createObject(fileName, partCount) {
      const key = `${++objectCount}-${encodeURIComponent(fileName)}`
      return { key, uploadId: randomBytes(8).toString('hex'), fileName, isOpen: true, partCount, parts: new Map() }
    },

    sign(object, partNumber) {
      const signedAt = Math.floor(now() / 1000) * 1000
      const query = new URLSearchParams()
      if (object.partCount > 1) {
        query.set('partNumber', String(partNumber))
        query.set('uploadId', object.uploadId)
      }
      if (isDeadlineShown) {
        query.set('X-Amz-Algorithm', 'AWS4-HMAC-SHA256')
        query.set('X-Amz-Date', new Date(signedAt).toISOString().replace(/[-:]|\.\d+/g, ''))
        query.set('X-Amz-Expires', String(addressLifetimeSeconds))
        query.set('X-Amz-SignedHeaders', 'host')
      }
      query.set('X-Amz-Signature', randomBytes(32).toString('hex'))
      const target = `/uploads/${object.key}?${query.toString()}`
      addresses.set(target, { object, partNumber, expiresAtMs: signedAt + addressLifetimeSeconds * 1000 })
      return target
    },

    find: (target) => addresses.get(target),

    put(target, headers, receivedAtMs, pieces) {
      const address = addresses.get(target)
      if (address === undefined) return xml(403, 'SignatureDoesNotMatch', 'The signature does not match.')
      if (receivedAtMs > address.expiresAtMs) return xml(403, 'AccessDenied', 'Request has expired')
      if (!address.object.isOpen) return xml(404, 'NoSuchUpload', 'The upload was aborted.')
      if (headers['authorization'] !== undefined) return xml(400, 'InvalidArgument', 'Only one auth mechanism allowed')
      if (headers['content-length'] === undefined) return xml(411, 'MissingContentLength', 'Length required.')
      return store(address, pieces)
    },
  }

  function store({ object, partNumber }: SignedAddress, pieces: readonly Buffer[]): Answer {
    const hashes = { sha256: createHash('sha256'), md5: createHash('md5') }
    for (const piece of pieces) for (const hash of Object.values(hashes)) hash.update(piece)
    const md5 = hashes.md5.digest('hex')
    const etag = etagOf(md5, etagStyle)
    object.parts.set(partNumber, {
      partNumber,
      sizeBytes: pieces.reduce((sum, piece) => sum + piece.byteLength, 0),
      sha256: hashes.sha256.digest('hex'),
      md5,
      etag,
      putCount: (object.parts.get(partNumber)?.putCount ?? 0) + 1,
      pieces,
    })
    return { status: 200, headers: { etag } }
  }
}

/** The refusal of an object store, in XML. */
function xml(status: number, code: string, message: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, body }
}

/** An ETag without the weak prefix and the quotes. */
export function bareEtag(etag: string): string {
  return etag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')
}

function etagOf(md5: string, style: NonNullable<IndependentServiceOptions['etagStyle']>): string {
  switch (style) {
    case 'quoted':
      return `"${md5}"`
    case 'bare':
      return md5
    case 'weak':
      return `W/"${md5}"`
    case 'opaque':
      // New with each PUT, even of the same bytes, as in stores with encryption.
      return `"${randomBytes(12).toString('hex')}-1"`
  }
}
