// What an S3-compatible store holds of an upload that is not complete: all pages of its list of parts.

import { UploadError } from '../core/errors.ts'
import { parseEtag } from '../core/attempt/etag.ts'
import { given } from '../core/given.ts'
import { S3_LIMITS } from '../core/plan.ts'
import { callS3, type S3Calling, type S3Outcome } from './s3-call.ts'
import { xmlEntries, xmlField, xmlRoot } from './s3-xml.ts'

/** One upload of one object. */
export interface S3Upload {
  readonly key: string
  readonly uploadId: string
}

/** Ceph 16 and OpenStack Swift name the key where others name the upload. A missing bucket is neither. */
const UNKNOWN_UPLOAD: ReadonlySet<string | undefined> = new Set(['NoSuchUpload', 'NoSuchKey'])

/** Whether the store knows no such upload, because it was completed, ended or swept away. */
export function isUploadUnknown(outcome: S3Outcome): boolean {
  return outcome.kind === 'refused' && UNKNOWN_UPLOAD.has(outcome.error.serviceCode)
}

/** A part as the store holds it now. */
export interface S3ListedPart {
  readonly partNumber: number
  readonly sizeBytes: number
  /** As the list gives it. */
  readonly etag: string
}

/**
 * The parts of an upload, by number. Undefined if the store knows no such upload because it was completed, ended or
 * swept away. Rejects with any other answer of the store, and with ERR_UPLOAD_SERVICE_REPLY for a list that cannot be
 * read.
 */
export async function listParts(
  ports: S3Calling,
  { key, uploadId }: S3Upload,
  signal: AbortSignal,
): Promise<readonly S3ListedPart[] | undefined> {
  const parts = new Map<number, S3ListedPart>()
  let partNumberMarker: number | undefined
  for (;;) {
    const page = { operation: 'list', key, uploadId, ...given({ partNumberMarker }) } as const
    const outcome = await callS3(ports, page, signal)
    if (outcome.kind !== 'done') {
      if (isUploadUnknown(outcome)) return undefined
      throw outcome.error
    }
    const list = xmlRoot(outcome.text, 'ListPartsResult') ?? unreadable(key)
    for (const entry of xmlEntries(list, 'Part')) {
      const part = partOf(entry) ?? unreadable(key)
      parts.set(part.partNumber, part)
    }
    if (xmlField(list, 'IsTruncated') !== 'true') break
    // The marker must grow with every page and has a largest value, so the pages end.
    const next = Number(xmlField(list, 'NextPartNumberMarker'))
    if (!isPartNumber(next) || next <= (partNumberMarker ?? 0)) unreadable(key)
    partNumberMarker = next
  }
  return [...parts.values()].sort((a, b) => a.partNumber - b.partNumber)
}

function partOf(entry: string): S3ListedPart | undefined {
  const partNumber = Number(xmlField(entry, 'PartNumber'))
  const size = xmlField(entry, 'Size') ?? ''
  const etag = xmlField(entry, 'ETag')
  if (!isPartNumber(partNumber) || !/^\d{1,15}$/.test(size) || parseEtag(etag) === undefined) return undefined
  return { partNumber, sizeBytes: Number(size), etag: etag ?? '' }
}

function isPartNumber(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= S3_LIMITS.maxCount
}

function unreadable(key: string): never {
  throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', `The storage's list of the parts of ${key} cannot be read.`)
}
