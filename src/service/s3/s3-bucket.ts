// The few calls that the service makes to its bucket, through the AWS SDK. s3-failures says what their errors mean.

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutBucketCorsCommand,
  S3Client,
} from '@aws-sdk/client-s3'

import { bareEtag, type StoredPart } from '../objects/part-check.ts'
import type { S3Keys } from './s3-addresses.ts'
import { absentOr, codeOf, fail, knownOr, named } from './s3-failures.ts'
import type { S3Settings } from './s3-settings.ts'

export interface StoredObject {
  readonly sizeBytes: number
  /** Without quotes. */
  readonly etag: string
  /** False when the store's encryption makes the ETag differ from the MD5 of the content. */
  readonly isEtagOfContent: boolean
}

/** How a completion ended: `done`, or why the store refused it. */
export type Completion = 'done' | 'no-upload' | 'wrong-part' | 'part-too-small'

/** Calls with a signal reject soon after it. */
export interface Bucket {
  /** Begins an upload. `isRepeated`: an earlier try had no answer, and may have begun one as well. */
  create(key: string): Promise<{ readonly uploadId: string; readonly isRepeated: boolean }>
  /** All parts in order. Undefined if there is no such upload, `unknown` if the store has no such call. */
  listParts(key: string, uploadId: string, signal?: AbortSignal): Promise<StoredPart[] | 'unknown' | undefined>
  complete(key: string, uploadId: string, etags: readonly string[]): Promise<Completion>
  /** Asks once to abort an upload. False if there is none, or the store has no such call. */
  abort(key: string, uploadId: string, signal?: AbortSignal): Promise<boolean>
  /** Uploads of exactly this key; none if the store has no such call. */
  listUploads(key: string, signal?: AbortSignal): Promise<string[]>
  head(key: string): Promise<StoredObject | undefined>
  remove(key: string, signal?: AbortSignal): Promise<void>
  /** Asks once whether the bucket exists and is ours. Rejects if it is not, or gives no answer before the signal. */
  probe(signal: AbortSignal): Promise<void>
  /** Lets pages of these origins send to addresses and read the ETags. */
  allowOrigins(origins: readonly string[]): Promise<void>
  /** The current keys to sign with. */
  keys(): Promise<S3Keys>
  /** How far the store's clock is ahead of this machine's, ms, by its last answer. 0 where they differ by less than minutes. */
  clockAheadMs(): number
  close(): void
}

const TIMES = { connectionTimeout: 5_000, socketTimeout: 120_000 } as const
/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const MAX_PARTS = 10_000
/** By less, an answer may merely have been long on its way. Stores take addresses that are wrong by this much. */
const LEAST_SKEW_MS = 240_000
const REFUSED: Readonly<Record<string, Completion>> = {
  NoSuchUpload: 'no-upload',
  // Ceph's answer for an upload that is just being aborted.
  NoSuchKey: 'no-upload',
  InvalidPart: 'wrong-part',
  InvalidPartOrder: 'wrong-part',
  EntityTooSmall: 'part-too-small',
}

export function openBucket({ bucket: Bucket, endpoint, region, pathStyle, keys }: S3Settings): Bucket {
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: pathStyle,
    maxAttempts: 3,
    requestHandler: TIMES,
    ...(keys === undefined ? {} : { credentials: keys }),
    // Stores other than AWS may not know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  return {
    async create(Key) {
      const { UploadId, $metadata } = await named('create an upload', () =>
        client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType: 'application/octet-stream' })),
      )
      const isRepeated = $metadata.attempts !== 1
      return { uploadId: UploadId ?? unusable('create an upload'), isRepeated }
    },
    async listParts(Key, UploadId, signal) {
      const parts: StoredPart[] = []
      let marker: string | undefined
      for (;;) {
        const at = { Bucket, Key, UploadId, PartNumberMarker: marker }
        const page = await knownOr('unknown' as const, () =>
          absentOr('list the parts', () => client.send(new ListPartsCommand(at), until(signal))),
        )
        if (page === undefined || page === 'unknown') return page
        for (const { PartNumber = 0, ETag = '', Size = 0 } of page.Parts ?? [])
          parts.push({ partNumber: PartNumber, etag: bareEtag(ETag), sizeBytes: Size })
        if (page.IsTruncated !== true) return parts
        const next = page.NextPartNumberMarker
        // The marker must grow with every page and has a largest value, so the pages end.
        if (!(Number(next) > Number(marker ?? 0) && Number(next) <= MAX_PARTS)) return unusable('list the parts')
        marker = next
      }
    },
    async complete(Key, UploadId, etags) {
      const Parts = etags.map((etag, index) => ({ PartNumber: index + 1, ETag: `"${etag}"` }))
      try {
        await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
        return 'done'
      } catch (error) {
        return REFUSED[codeOf(error)] ?? fail('complete the upload', error)
      }
    },
    async abort(Key, UploadId, signal) {
      const at = { Bucket, Key, UploadId }
      const answer = await knownOr(undefined, () =>
        absentOr('abort an upload', () => client.send(new AbortMultipartUploadCommand(at), until(signal))),
      )
      return answer !== undefined
    },
    async listUploads(Key, signal) {
      const asked = { Bucket, Prefix: Key }
      const page = await knownOr({ Uploads: [] }, () =>
        named('list the uploads', () => client.send(new ListMultipartUploadsCommand(asked), until(signal))),
      )
      return (page.Uploads ?? []).flatMap((upload) =>
        upload.Key === Key && upload.UploadId !== undefined ? [upload.UploadId] : [],
      )
    },
    async head(Key) {
      const found = await absentOr('look at an object', () => client.send(new HeadObjectCommand({ Bucket, Key })))
      if (found === undefined) return undefined
      const { ContentLength = 0, ETag = '', ServerSideEncryption, SSECustomerAlgorithm } = found
      // Only AES256, the store's own key, keeps the MD5; aws:kms, aws:fsx and what may follow do not.
      const isEtagOfContent = SSECustomerAlgorithm === undefined && (ServerSideEncryption ?? 'AES256') === 'AES256'
      return { sizeBytes: ContentLength, etag: bareEtag(ETag), isEtagOfContent }
    },
    async remove(Key, signal) {
      await absentOr('remove an object', () => client.send(new DeleteObjectCommand({ Bucket, Key }), until(signal)))
    },
    async probe(abortSignal) {
      await knownOr({}, () =>
        named('show its bucket', () => client.send(new HeadBucketCommand({ Bucket }), { abortSignal })),
      )
    },
    async allowOrigins(AllowedOrigins) {
      const rule = {
        AllowedOrigins: [...AllowedOrigins],
        AllowedMethods: ['GET', 'PUT'],
        AllowedHeaders: ['*'],
        ExposeHeaders: ['ETag', 'Date'],
        MaxAgeSeconds: 3600,
      }
      const CORSConfiguration = { CORSRules: [rule] }
      await named('set the origins', () => client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration })))
    },
    keys: () => named('find its keys', () => client.config.credentials()),
    clockAheadMs() {
      const { systemClockOffset: aheadMs } = client.config
      return Math.abs(aheadMs) < LEAST_SKEW_MS ? 0 : aheadMs
    },
    close: () => client.destroy(),
  }
}

/** Ends a call soon after the signal. Each call listens to one of its own, because Node warns of more than ten on the same. */
function until(signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: AbortSignal.any([signal]) }
}

function unusable(what: string): never {
  throw new Error(`The object store's answer was of no use when asked to ${what}.`)
}
