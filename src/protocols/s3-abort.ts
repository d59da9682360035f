// Ends an upload that is not complete, so that the store keeps none of it, and bills for none of it.

import { UploadError } from '../core/errors.ts'
import { backoffMs } from '../core/retry.ts'
import { sleep } from '../core/time/sleep.ts'
import { callS3 } from './s3-call.ts'
import type { S3CallPorts } from './s3-sign.ts'
import { isUploadUnknown, listParts, type S3Upload } from './s3-parts.ts'

/**
 * A part that was under way during an abort may be stored after it. Each further abort removes what arrived in the
 * meantime.
 */
const MAX_ABORTS = 5

/**
 * Aborts until the store no longer knows the upload, or lists no part of it. An upload that was completed or ended
 * before counts as ended. Safe to repeat. Rejects if parts keep arriving, and with any other answer of the store.
 */
export async function abortS3Upload(ports: S3CallPorts, upload: S3Upload, signal: AbortSignal): Promise<void> {
  const { key, uploadId } = upload
  for (let attempt = 1; attempt <= MAX_ABORTS; attempt += 1) {
    const outcome = await callS3(ports, { operation: 'abort', key, uploadId }, signal)
    // OpenStack Swift goes on listing the parts of a completed upload.
    if (isUploadUnknown(outcome)) return
    const isGone = outcome.kind === 'refused' && outcome.error.status === 404
    if (outcome.kind !== 'done' && !isGone) throw outcome.error
    const left = await listParts(ports, upload, signal)
    if (left === undefined || left.length === 0) return
    await sleep(ports.clock, 250 + backoffMs(attempt, ports.random), signal)
  }
  throw new UploadError(
    'ERR_UPLOAD_SERVICE_REFUSED',
    `The storage still lists parts of the upload of ${key} after ${MAX_ABORTS} aborts. Cancel again later.`,
    { isRetryable: true },
  )
}
