// Storage in a bucket: clients talk to the store directly over pre-signed addresses, and no byte passes through the service. A file
// of several parts is a multipart upload; a capture or a file of one part is a plain PUT.

import { createHash } from 'node:crypto'

import { refuse } from '../http/replies.ts'
import { inParallel } from '../in-parallel.ts'
import { keyOf, type ObjectKey } from '../objects/object-keys.ts'
import type { ObjectStorage, VideoObject } from '../objects/object-storage.ts'
import { addressesOfParts } from '../objects/part-addresses.ts'
import { checkParts } from '../objects/part-check.ts'
import type { createAddressSigner } from './s3-addresses.ts'
import type { Bucket, StoredObject } from './s3-bucket.ts'

const MIB = 1024 ** 2
/** The minimum for all parts but the last: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const MIN_PART_BYTES = 5 * MIB
/** How often an abort is asked for: a part on its way may arrive after an abort. */
const ABORTS = 10
const CALLS_AT_ONCE = 16
/** How long a store that has answered is not asked again, ms: every load balancer asks every copy every few seconds. */
const TRUSTED_MS = 5_000
/** Ends before the caller of the health check gives up. */
const PROBE_WITHIN_MS = 4_000

/** `now` is wall time, ms. */
export function s3Storage(
  bucket: Bucket,
  sign: ReturnType<typeof createAddressSigner>,
  now: () => number,
): ObjectStorage {
  let reachedAt = -Infinity
  return {
    problemOf(sizeBytes, partCount) {
      if ((partCount - 1) * MIN_PART_BYTES >= sizeBytes && partCount > 1)
        return `expected at most ${Math.max(1, Math.ceil(sizeBytes / MIN_PART_BYTES))}: no chunk but the last may be below 5 MiB`
      return undefined
    },
    begin: (files, signal) =>
      inParallel(CALLS_AT_ONCE, files, async (file) => {
        signal.throwIfAborted()
        return file.partCount === 1 ? null : begin(bucket, keyOf(file.key), signal)
      }),
    async partAddresses(files, signal) {
      const secrets = await bucket.keys()
      return addressesOfParts(
        files,
        ({ key, uploadId }, partNumber) =>
          sign(secrets, 'PUT', keyOf(key), uploadId === null ? {} : { partNumber: String(partNumber), uploadId }),
        signal,
      )
    },
    async captureSigner() {
      const secrets = await bucket.keys()
      return (key) => sign(secrets, 'PUT', keyOf(key))
    },
    readAddress: async (key) => sign(await bucket.keys(), 'GET', keyOf(key)),
    async captureSizes(keys) {
      const found = await inParallel(CALLS_AT_ONCE, keys, (key) => bucket.head(keyOf(key)))
      return new Map(keys.flatMap((key, index) => sizeEntry(key, found[index])))
    },
    assemble: (file, etags) => assemble(bucket, file, etags),
    // Everything was checked when the store put the parts together.
    check: () => Promise.resolve(),
    async checkReachable() {
      const at = now()
      if (at >= reachedAt && at < reachedAt + TRUSTED_MS) return
      await bucket.probe(AbortSignal.timeout(PROBE_WITHIN_MS))
      reachedAt = at
    },
    async release(files, signal) {
      await inParallel(CALLS_AT_ONCE, files, (file) => release(bucket, file, signal))
    },
  }
}

async function begin(bucket: Bucket, key: string, signal: AbortSignal): Promise<string> {
  const { uploadId, isRepeated } = await bucket.create(key)
  if (isRepeated) {
    const abortOthers = async () => {
      for (const other of await bucket.listUploads(key, signal))
        if (other !== uploadId) await bucket.abort(key, other, signal)
    }
    // They are empty, and no reason to refuse the file.
    await abortOthers().catch(() => undefined)
  }
  return uploadId
}

function sizeEntry(key: ObjectKey, object: StoredObject | undefined): [string, number][] {
  return object === undefined ? [] : [[keyOf(key), object.sizeBytes]]
}

async function assemble(bucket: Bucket, file: VideoObject, etags: readonly string[]): Promise<void> {
  const key = keyOf(file.key)
  if (file.uploadId === null) {
    checkWhole(await bucket.head(key), file, etags)
    return
  }
  // Checked before the step that cannot be undone: a completed upload takes no more parts.
  const parts = await bucket.listParts(key, file.uploadId)
  if (parts !== undefined) {
    if (parts !== 'unknown') checkParts(parts, etags, file.sizeBytes)
    const completion = await completeOrSee(bucket, file, etags)
    if (completion === 'part-too-small') refuse(409, 'part_too_small', 'A part but the last is below 5 MiB.')
    // A part was replaced while it was being checked.
    if (completion === 'wrong-part') refuse(409, 'etag_mismatch', 'A part is stored with another ETag by now.')
  }
  const object = await bucket.head(key)
  // The upload was just listed, then reported gone, and no object exists. If it can still be listed, the store contradicts itself.
  const isContradicted = object === undefined && parts !== undefined && parts !== 'unknown'
  if (isContradicted && (await bucket.listParts(key, file.uploadId)) !== undefined)
    refuse(503, 'storage_unavailable', 'The object store contradicts itself about the upload. Try again.')
  checkWhole(object, file, etags)
}

/** Two completions at once are no error. If one fails, the other may have succeeded, which the object itself shows. */
async function completeOrSee(bucket: Bucket, file: VideoObject, etags: readonly string[]) {
  const key = keyOf(file.key)
  try {
    return await bucket.complete(key, file.uploadId ?? '', etags)
  } catch (error) {
    if ((await bucket.head(key)) === undefined) throw error
    return 'done'
  }
}

/** Throws unless the object exists and is made of these parts. */
function checkWhole(object: StoredObject | undefined, file: VideoObject, etags: readonly string[]): void {
  if (object === undefined) {
    if (file.uploadId === null) refuse(409, 'part_not_stored', 'Part 1 was never stored.', { part_number: 1 })
    refuse(409, 'upload_lost', 'The object store has no upload of this file any more. Upload it in a new session.')
  }
  if (object.sizeBytes !== file.sizeBytes) {
    const found = `The object holds ${object.sizeBytes} bytes`
    refuse(409, 'size_mismatch', `${found}, the file was announced with ${file.sizeBytes}.`)
  }
  const expected = file.uploadId === null ? etags[0] : etagOfParts(etags)
  // An ETag made in another way says nothing. The key is this file's own, and the size is right.
  const isComparable = file.uploadId === null || (object.isEtagOfContent && /^[0-9a-f]{32}-\d+$/.test(object.etag))
  if (expected !== undefined && isComparable && object.etag !== expected) {
    refuse(409, 'etag_mismatch', 'The object is stored with another ETag.', { part_number: 1 })
  }
}

/** The ETag that S3 gives an object of several parts; undefined if their ETags are not MD5s. */
function etagOfParts(etags: readonly string[]): string | undefined {
  if (!etags.every((etag) => /^[0-9a-f]{32}$/.test(etag))) return undefined
  const hash = createHash('md5')
  for (const etag of etags) hash.update(Buffer.from(etag, 'hex'))
  return `${hash.digest('hex')}-${etags.length}`
}

async function release(bucket: Bucket, file: VideoObject, signal?: AbortSignal): Promise<void> {
  const key = keyOf(file.key)
  if (file.partCount > 1) {
    // An upload that was begun just before the service died is known only to the store.
    const uploads = file.uploadId === null ? await bucket.listUploads(key, signal) : [file.uploadId]
    for (const uploadId of uploads) await abort(bucket, { key, uploadId }, signal)
  }
  await bucket.remove(key, signal)
}

async function abort(
  bucket: Bucket,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  signal?: AbortSignal,
): Promise<void> {
  for (let count = 0; count < ABORTS; count++) {
    // Of a completed upload, OpenStack Swift says that there is none, but goes on listing its parts.
    if (!(await bucket.abort(key, uploadId, signal))) return
    const left = await bucket.listParts(key, uploadId, signal)
    if (left === undefined || left === 'unknown' || left.length === 0) return
  }
  refuse(503, 'storage_unavailable', 'Parts are still arriving at the object store. Try again.')
}
