// What a storage's answer to a part means: a success is a receipt, with its ETag if the file is confirmed by that.

import { isPage } from '../client/reply.ts'
import { HttpStatusError, UploadError } from '../core/errors.ts'
import { given } from '../core/given.ts'
import { parseEtag } from '../core/attempt/etag.ts'
import type { Protocol, Unit } from '../core/ports.ts'
import { classifyStorageFailure } from '../core/attempt/storage-failure.ts'

/**
 * Makes the judge of a protocol's parts. A 2xx is a receipt. Unless `isTagOptional`, only one with a legal ETag is; without it the
 * part is tried again, because some proxies drop the header now and then. A 200 with a web page is none, whatever its ETag: no store
 * answers a part with one (Apache's 201 has one), but over plain HTTP a network's sign-in page answers in its place, for as long as it
 * takes.
 */
export function partJudge(isTagOptional?: boolean): Protocol['judge'] {
  /** An ETag was read, so no rule of the storage hides it from a page. */
  let isShown = false
  return (reply, unit) => {
    const { status, headers, hidesHeaders } = reply
    const { etag: tag } = headers
    const etag = parseEtag(tag)?.raw
    isShown ||= tag !== undefined
    if (status < 200 || status > 299) return classifyStorageFailure(reply, unit)
    if (status === 200 && isPage(reply)) {
      const message = 'A web page answered for the storage: sign in to the network.'
      // With its status, without which the wait would be told as one for a storage that gives no answer.
      const error = new HttpStatusError('ERR_UPLOAD_SERVICE_REPLY', message, { status, isRetryable: true })
      return { kind: 'retry', error, isThrottle: true }
    }
    if (etag || isTagOptional) return { kind: 'received', acceptedEnd: unit.end, ...given({ etag }) }
    if (hidesHeaders && !isShown) return { kind: 'final', error: etagHidden(unit) }
    const error = new UploadError(
      'ERR_UPLOAD_ETAG_MISSING',
      `The storage took part ${unit.partNumber} without giving an ETag that can be kept, and the file cannot be confirmed without one.`,
      { isRetryable: true },
    )
    return { kind: 'retry', error }
  }
}

/** Final: no repetition makes a header readable, and each would send the part again. */
function etagHidden({ partNumber }: Unit): UploadError {
  return new UploadError(
    'ERR_UPLOAD_ETAG_MISSING',
    `The storage took part ${partNumber}, and its ETag cannot be read in a page, so the file cannot be confirmed. ` +
      'Add ETag to ExposeHeaders of the CORS rule of the bucket, then resume.',
  )
}
