// What a storage's answer to a part means if the part's receipt is its ETag.

import { UploadError } from '../core/errors.ts'
import { parseEtag } from '../core/attempt/etag.ts'
import type { TransportReply, Unit, Verdict } from '../core/ports.ts'
import { classifyStorageFailure } from '../core/attempt/storage-failure.ts'

/**
 * A 2xx with a legal ETag is a receipt. Without one the part is tried again, because some proxies drop the header now
 * and then.
 */
export function judgeTaggedPart(reply: TransportReply, unit: Unit): Verdict {
  if (reply.status < 200 || reply.status > 299) return classifyStorageFailure(reply, unit)
  const etag = parseEtag(reply.headers['etag'])
  if (etag !== undefined) return { kind: 'received', acceptedEnd: unit.end, etag: etag.raw }
  if (reply.hidesHeaders === true && reply.headers['etag'] === undefined)
    return { kind: 'final', error: etagHidden(unit) }
  const error = new UploadError(
    'ERR_UPLOAD_ETAG_MISSING',
    `The storage took part ${unit.partNumber} without giving an ETag that can be kept, and the file cannot be confirmed without one.`,
    { isRetryable: true },
  )
  return { kind: 'retry', error, isThrottle: false }
}

/** Final: no repetition makes a header readable, and each would send the part again. */
function etagHidden({ partNumber }: Unit): UploadError {
  return new UploadError(
    'ERR_UPLOAD_ETAG_MISSING',
    `The storage took part ${partNumber}, and its ETag cannot be read in a page, so the file cannot be confirmed. ` +
      'Add ETag to ExposeHeaders of the CORS rule of the bucket, then resume.',
  )
}
