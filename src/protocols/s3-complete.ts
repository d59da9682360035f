// Joins the parts of an upload into an object, and finds out what became of it if the store does not say so clearly.
// The answer to a completion may come late, carry an error behind its 200, be lost, or say that there is no such upload
// because an earlier try did it. Success is reported only for an object that is proven to be this one.

import type { HttpStatusError } from '../core/errors.ts'
import { known, UploadError, wasInVain, withDetails } from '../core/errors.ts'
import { formatEtag, md5FromEtag, parseEtag } from '../core/attempt/etag.ts'
import type { Hasher, Receipt, TransportReply } from '../core/ports.ts'
import { backoffMs } from '../core/retry.ts'
import { parseHttpDateMs } from '../core/retry-after.ts'
import { sleep } from '../core/time/sleep.ts'
import { callS3, type S3Calling, type S3Outcome } from './s3-call.ts'
import { listParts } from './s3-parts.ts'
import type { S3SessionUpload } from './s3-session.ts'
import { completeRequestXml, xmlRoot } from './s3-xml.ts'

type CompletePorts = S3Calling & { readonly hasher?: Hasher | undefined }
type Parts = readonly { readonly partNumber: number; readonly receipt: Receipt }[]

const MAX_ROUNDS = 3

/**
 * Completes an upload. Safe to repeat, also by a later process. Rejects with ERR_UPLOAD_CONFIRM_REFUSED if the store
 * refuses the parts or has swept the upload away, and with the last error if the store did not answer.
 */
export async function completeS3Upload(
  ports: CompletePorts,
  upload: S3SessionUpload,
  parts: Parts,
  signal: AbortSignal,
): Promise<void> {
  let mayBeDone = false as boolean
  // A later call that nobody heard says nothing about the completion before it.
  const asking: CompletePorts = {
    ...ports,
    onWaiting: (wait) => ports.onWaiting?.(wait && { ...wait, isDoubtful: wait.isDoubtful || mayBeDone }),
  }
  try {
    await complete(asking, upload, parts, signal, () => (mayBeDone = true))
  } catch (error) {
    const isSaid = mayBeDone && wasInVain(error)
    throw isSaid ? withDetails(error, { isDoubtful: true }) : error
  }
}

/** `onDoubt` is called once the store may have completed it although it did not say so. */
async function complete(
  ports: CompletePorts,
  upload: S3SessionUpload,
  parts: Parts,
  signal: AbortSignal,
  onDoubt: () => void,
): Promise<void> {
  const { key, uploadId } = upload
  const body = completeRequestXml(
    parts.map(({ partNumber, receipt }) => ({ partNumber, etag: formatEtag(known(receipt.etag), 'quoted') })),
  )
  let outcome: S3Outcome | undefined
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    outcome = await callS3(ports, { operation: 'complete', key, uploadId }, signal, body)
    if (outcome.kind === 'done' && xmlRoot(outcome.text, 'CompleteMultipartUploadResult') !== undefined) return
    const isClear = outcome.kind === 'refused' && !outcome.isDoubtful && outcome.error.status !== 404
    if (isClear) break
    if (outcome.kind !== 'missing' || outcome.isDoubtful) onDoubt()
    if ((await listParts(ports, upload, signal)) === undefined) {
      if (await isThere(ports, upload, parts, signal)) return
      throw refused(`The storage has no upload of ${key} any more, and no object that is proven to be it.`)
    }
    // The upload is still open, so whatever the answer was, it was not completed.
    if (outcome.kind === 'refused' && !outcome.error.isRetryable) break
    if (round < MAX_ROUNDS) await sleep(ports.clock, backoffMs(round, ports.random), signal)
  }
  if (outcome?.kind === 'missing') throw outcome.error
  if (outcome?.kind === 'refused') throw asConfirmRefusal(outcome.error)
  throw new UploadError(
    'ERR_UPLOAD_SERVICE_REPLY',
    `The storage answers the completion of ${key} with what is no answer to it, and the upload is still open.`,
  )
}

async function isThere(
  ports: CompletePorts,
  upload: S3SessionUpload,
  parts: Parts,
  signal: AbortSignal,
): Promise<boolean> {
  const outcome = await callS3(ports, { operation: 'head', key: upload.key }, signal)
  if (outcome.kind === 'refused' && outcome.error.status === 404) return false
  if (outcome.kind !== 'done') throw outcome.error
  return isThisObject(outcome.reply, upload, parts, ports.hasher)
}

/**
 * Whether an object is the one that these parts make. Its size must be theirs, and its ETag must not name another
 * number of parts. If its ETag can be computed, that decides. Otherwise the object must have been made after the upload
 * was created.
 */
async function isThisObject(
  { headers }: TransportReply,
  upload: S3SessionUpload,
  parts: Parts,
  hasher: Hasher | undefined,
): Promise<boolean> {
  if (headers['content-length'] !== String(known(parts.at(-1)).receipt.acceptedEnd)) return false
  const etag = parseEtag(headers['etag'])?.value ?? ''
  const [, isMultipart, count] = /^([0-9a-f]{32})-(\d{1,5})$/i.exec(etag) ?? []
  if (count !== undefined && Number(count) !== parts.length) return false
  const digests = parts.map(({ receipt }) => md5FromEtag(receipt.etag, headers))
  if (hasher !== undefined && isMultipart !== undefined && digests.every((digest) => digest !== undefined)) {
    const hash = hasher.start()
    await hash.update(Uint8Array.from(digests.join('').match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)))
    return (await hash.digest()) === isMultipart.toLowerCase()
  }
  // Some stores date an object by the creation of its upload, and dates are in whole seconds.
  const madeAtMs = parseHttpDateMs(headers['last-modified']) ?? NaN
  return madeAtMs >= (upload.createdAtMs ?? NaN) - 1_000
}

function asConfirmRefusal(error: HttpStatusError): UploadError {
  const isRefusal = error.code === 'ERR_UPLOAD_HTTP_STATUS' && !error.isRetryable
  return isRefusal ? refused(error.message, error) : error
}

function refused(message: string, cause?: HttpStatusError): UploadError {
  return new UploadError('ERR_UPLOAD_CONFIRM_REFUSED', message, {
    ...(cause === undefined ? {} : { cause, details: cause.details }),
  })
}
