// What a storage's answer to a part means where the part's receipt is its ETag.

import { UploadError } from '../core/errors.ts'
import { parseEtag } from '../core/etag.ts'
import type { TransportReply, Unit, Verdict } from '../core/ports.ts'
import { classifyStorageFailure } from '../core/retry.ts'

/** A 2xx with an ETag is a receipt. Without one that is legal it is tried again: some proxies drop it now and then. */
export function judgeTaggedPart(reply: TransportReply, unit: Unit): Verdict {
  if (reply.status < 200 || reply.status > 299) return classifyStorageFailure(reply, unit)
  const etag = parseEtag(reply.headers['etag'])
  if (etag !== undefined) return { kind: 'received', acceptedEnd: unit.end, etag: etag.raw }
  const error = new UploadError(
    'ERR_UPLOAD_ETAG_MISSING',
    `The storage took part ${String(unit.partNumber)} without giving an ETag that can be kept, and the file cannot be confirmed without one. ` +
      'In a browser, the CORS rule of the bucket must expose the ETag header.',
    { isRetryable: true },
  )
  return { kind: 'retry', error, isThrottle: false }
}
