// What an answer of a storage other than a success means: the table of statuses and codes. Pure.

import { HttpStatusError, isUploadGone, type UploadError, type UploadErrorCode } from '../errors.ts'
import type { TransportReply, Unit, Verdict } from '../ports.ts'
import { isPassingStatus } from '../retry.ts'
import { retryAfterOf } from '../retry-after.ts'

/** A verdict on an answer that was not a success. */
export type StorageFailure = Exclude<Verdict, { kind: 'received' }>

const MAX_READ_BYTES = 65_536
const EXPIRED_CODES = ['ExpiredToken', 'RequestExpired', 'TokenRefreshRequired', 'AuthenticationFailed']
const TRANSIENT_CODES = ['RequestTimeout', 'IncompleteBody', 'OperationAborted', 'ConditionalRequestConflict']
const DAMAGED_CODES = ['BadDigest', 'Md5Mismatch', 'XAmzContentSHA256Mismatch']
const THROTTLE_CODES = ['SlowDown', 'SlowDownRead', 'SlowDownWrite', 'ServerBusy', 'TooManyRequests']

/**
 * What an answer other than 2xx means for a part sent to a pre-signed address. Reads the XML error of S3-compatible
 * stores and of Azure; the error names the part, the status and the store's code, never the body or the address.
 * A 403 that gives no reason asks for a renewal: the caller must allow only one of those per part.
 */
export function classifyStorageFailure(reply: TransportReply, unit: Unit): StorageFailure {
  const { status } = reply
  const { code, message } = readStorageError(reply)
  const retryAfterMs = retryAfterOf(reply)
  const again = (errorCode: UploadErrorCode, reason = ''): StorageFailure => ({
    kind: 'retry',
    error: failure(errorCode, reason, true),
    isThrottle: THROTTLE_CODES.includes(code),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
  const end = (kind: 'renew' | 'final', errorCode: UploadErrorCode, reason = ''): StorageFailure => {
    return { kind, error: failure(errorCode, reason, false) }
  }
  const failure = (errorCode: UploadErrorCode, reason: string, isRetryable: boolean): UploadError => {
    const verb = status >= 500 ? 'could not take' : 'refused'
    const told = code === '' ? status : `${status} ${code}`
    const message = `The storage ${verb} part ${unit.partNumber} (${told}${reason === '' ? '' : `: ${reason}`}).`
    return new HttpStatusError(errorCode, message, {
      status,
      isRetryable,
      retryAfterMs,
      serviceCode: code === '' ? undefined : code,
      details: { fileIndex: unit.fileIndex, partNumber: unit.partNumber },
    })
  }

  if (status >= 300 && status < 400) {
    return end('final', 'ERR_UPLOAD_REDIRECT_REFUSED', 'it redirects, and redirects are not followed')
  }
  if (isExpiry(code, message)) return end('renew', 'ERR_UPLOAD_ADDRESS_EXPIRED', 'the address has expired')
  if (THROTTLE_CODES.includes(code)) return again('ERR_UPLOAD_HTTP_STATUS', 'it is busy')
  if (status === 403 && /not (?:valid yet|yet valid)/i.test(message)) {
    return again('ERR_UPLOAD_ADDRESS_REFUSED', 'the address is not valid yet: a clock is wrong')
  }
  if (status === 403 && code === '') return end('renew', 'ERR_UPLOAD_ADDRESS_REFUSED', 'it gives no reason')
  if (status === 401 || status === 403) return end('final', 'ERR_UPLOAD_ADDRESS_REFUSED')
  if (DAMAGED_CODES.includes(code)) return again('ERR_UPLOAD_DIGEST_MISMATCH', 'the bytes were damaged on their way')
  // Only the reason in a 400 tells whether it lasts, and the answer may break off before that.
  const isUntold = status === 400 && code === '' && reply.isBodyCut
  if (isUntold || isPassingStatus(status) || TRANSIENT_CODES.includes(code)) return again('ERR_UPLOAD_HTTP_STATUS')
  // Somebody may have ended it on purpose, so only a person's word, a resume, asks for other addresses: see session-addresses.
  if (isUploadGone({ serviceCode: code })) {
    return end('final', 'ERR_UPLOAD_ADDRESS_REFUSED', 'this upload was ended or swept away there')
  }
  return end('final', 'ERR_UPLOAD_HTTP_STATUS')
}

function isExpiry(code: string, message: string): boolean {
  return EXPIRED_CODES.includes(code) || (code === 'AccessDenied' && /\bexpired\b/i.test(message))
}

/** The store's code and message, empty where it gives none. The code is shown to people, so it must look like a code. */
function readStorageError({ body, headers }: TransportReply): { code: string; message: string } {
  const text = new TextDecoder().decode(body.subarray(0, MAX_READ_BYTES))
  const [, named = ''] = /<Code>\s{0,8}([A-Za-z0-9]{3,48})\s{0,8}<\/Code>/.exec(text) ?? []
  const [, message = ''] = /<Message>([^<]{0,1000})/.exec(text) ?? []
  const looksLikeCode = /^[A-Z][A-Za-z0-9]{2,47}$/
  return { code: [named, headers['x-ms-error-code'] ?? ''].find((code) => looksLikeCode.test(code)) ?? '', message }
}
