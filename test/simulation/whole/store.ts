// A model of an S3-compatible store without a service in front of it: one upload for each object, reached by addresses that the
// host signs. It shares its uploads with the far end, which takes the parts: to that, each upload is a session of one file.

import type { S3SignRequest } from '../../../src/protocols/s3-sign.ts'
import { digestOf } from './digest.ts'
import { SIGNATURE, storageError, type Answer, type FarFile, type FarSession } from './far-end.ts'
import type { Night } from './night.ts'

export type StoreCall = Exclude<S3SignRequest, { operation: 'part' }>

export interface Store {
  /** Signs a request, as the host does. Whatever is asked for is signed. */
  sign(request: S3SignRequest): string
  /** What an address that is not one of a part was signed for. */
  callOf(url: string): StoreCall | undefined
  /** `isUnheard`: see `FarEnd.call`. */
  call(call: StoreCall, body: string, isUnheard: boolean): Answer
  /** Sweeps away the uploads of an object that are not complete, as the rules of a bucket do. */
  sweep(key: string): void
}

export interface StoreOptions {
  readonly night: Night
  readonly serverNow: () => number
  readonly violate: (what: string) => void
  readonly sessions: ReadonlyMap<string, FarSession>
  readonly begin: () => FarSession
  readonly signPart: (uploadId: string, key: string, partNumber: number) => string
}

/** So few that most lists have several pages. */
const PARTS_OF_A_PAGE = 3

export function createStore({ night, serverNow, violate, sessions, begin, signPart }: StoreOptions): Store {
  const calls: { readonly url: string; readonly call: StoreCall }[] = []
  const objects = new Map<
    string,
    { readonly etag: string; readonly sizeBytes: number; readonly modifiedAtMs: number }
  >()
  const began = new Map<string, number>()

  const openUpload = (uploadId: string, key: string): FarFile | undefined => {
    const session = sessions.get(uploadId)
    const file = session?.files.get(key)
    return session?.isCancelled === true || file?.isConfirmed === true ? undefined : file
  }
  const gone = storageError(404, 'NoSuchUpload', 'The upload does not exist')
  const create = (key: string): Answer => {
    const { id, files } = begin()
    began.set(id, serverNow())
    files.set(key, { fileId: 0, name: key, partCount: partCountOf(night, key), parts: new Map(), isConfirmed: false })
    return xml('InitiateMultipartUploadResult', `<Key>${key}</Key><UploadId>${id}</UploadId>`)
  }
  const complete = (uploadId: string, key: string, body: string, isUnheard: boolean): Answer => {
    const file = openUpload(uploadId, key)
    if (file === undefined) return gone
    const listed = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g)]
    if (listed.length !== file.partCount || !listed.every(([, number], index) => Number(number) === index + 1)) {
      violate(`${key} is completed without all its parts in order`)
      return storageError(400, 'InvalidPartOrder', 'The parts are not in order')
    }
    for (const [, number, etag] of listed) {
      const part = file.parts.get(Number(number))
      if (part?.etag === etag!.replaceAll('&quot;', '"')) continue
      if (part?.isDoubted !== true && !isUnheard)
        violate(`${key} is completed with an ETag that part ${number!} does not have`)
      return storageError(400, 'InvalidPart', 'A part has another ETag')
    }
    file.isConfirmed = true
    const parts = listed.map(([, number]) => file.parts.get(Number(number))!)
    const digests = parts.flatMap(({ etag }) => (etag.slice(1, -1).match(/../g) ?? []).map((hex) => parseInt(hex, 16)))
    const digest = night.isOpaque ? `whole-${uploadId}` : digestOf(Uint8Array.from(digests))
    const etag = `"${digest}-${String(parts.length)}"`
    const sizeBytes = parts.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    // Some stores date an object by the beginning of its upload.
    const modifiedAtMs = night.echoesFileIds ? began.get(uploadId)! : serverNow()
    objects.set(key, { etag, sizeBytes, modifiedAtMs })
    return xml('CompleteMultipartUploadResult', `<ETag>${etag.replaceAll('"', '&quot;')}</ETag>`)
  }
  const abort = (uploadId: string, key: string): Answer => {
    if (openUpload(uploadId, key) === undefined) return gone
    sessions.get(uploadId)!.isCancelled = true
    return { status: 204 }
  }
  const list = (uploadId: string, key: string, marker = 0): Answer => {
    const file = openUpload(uploadId, key)
    if (file === undefined) return gone
    const numbers = [...file.parts.keys()].filter((number) => number > marker).sort((a, b) => a - b)
    const page = numbers.slice(0, PARTS_OF_A_PAGE)
    const entries = page.map((number) => {
      const { etag, bytes } = file.parts.get(number)!
      return `<Part><PartNumber>${String(number)}</PartNumber><ETag>${etag}</ETag><Size>${String(bytes.byteLength)}</Size></Part>`
    })
    const isTruncated = numbers.length > page.length
    const next = isTruncated ? `<NextPartNumberMarker>${String(page.at(-1))}</NextPartNumberMarker>` : ''
    return xml('ListPartsResult', `<IsTruncated>${String(isTruncated)}</IsTruncated>${next}${entries.join('')}`)
  }
  const head = (key: string): Answer => {
    const object = objects.get(key)
    if (object === undefined) return { status: 404 }
    const { etag, sizeBytes, modifiedAtMs } = object
    const modified = new Date(modifiedAtMs).toUTCString()
    return { status: 200, headers: { etag, 'content-length': String(sizeBytes), 'last-modified': modified } }
  }

  return {
    sign(request) {
      if (request.operation === 'part') return signPart(request.uploadId, request.key, request.partNumber)
      const mark = String(calls.length)
      const url = `https://store.test/${request.key}?${request.operation}&X-Amz-Signature=${SIGNATURE}c${mark}`
      calls.push({ url, call: request })
      return url
    },
    callOf(url) {
      const mark = url.slice(url.lastIndexOf(SIGNATURE) + SIGNATURE.length)
      const signed = mark.startsWith('c') ? calls[Number(mark.slice(1))] : undefined
      return signed?.url === url ? signed.call : undefined
    },
    call(call, body, isUnheard) {
      switch (call.operation) {
        case 'create':
          return create(call.key)
        case 'complete':
          return complete(call.uploadId, call.key, body, isUnheard)
        case 'abort':
          return abort(call.uploadId, call.key)
        case 'list':
          return list(call.uploadId, call.key, call.partNumberMarker)
        case 'head':
          return head(call.key)
      }
    },
    sweep(key) {
      for (const session of sessions.values())
        if (openUpload(session.id, key) !== undefined) Object.assign(session, { isCancelled: true, isSwept: true })
    },
  }
}

function partCountOf({ files, partSizeBytes }: Night, key: string): number {
  const sizeBytes = files.find(({ name }) => name === key)?.bytes.byteLength ?? 0
  return Math.max(1, Math.ceil(sizeBytes / partSizeBytes))
}

function xml(root: string, inside: string): Answer {
  return { status: 200, body: `<?xml version="1.0" encoding="UTF-8"?><${root}>${inside}</${root}>` }
}
