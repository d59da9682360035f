// What the status of an answer means for a call. Pure.

import { isHttpStatusError, isUploadError, type HttpStatusError, type UploadError } from '../core/errors.ts'
import { isPassingStatus } from '../core/retry.ts'

export type AnswerClass = 'success' | 'redirect' | 'credentials' | 'refused' | 'again' | 'lasting'

export function classOfStatus(status: number): AnswerClass {
  if (status >= 200 && status < 300) return 'success'
  if (status >= 300 && status < 400) return 'redirect'
  if ([401, 403].includes(status)) return 'credentials'
  if (isPassingStatus(status)) return 'again'
  return status < 500 ? 'refused' : 'lasting'
}

/**
 * Whether a passing failure may have come after the deed, as a 408 or a 500 may. A 425, 429, 503 or 511 says that the
 * far end has not begun (RFC 8470, 6585, 9110).
 */
export function isDoubtfulStatus(status: number): boolean {
  return classOfStatus(status) === 'again' && ![425, 429, 503, 511].includes(status)
}

/** Whether the service understood the call and said no. */
export function isRefusal(error: unknown): error is UploadError {
  return isUploadError(error) && error.code === 'ERR_UPLOAD_SERVICE_REFUSED'
}

/** Whether the service no longer knows the thing, or never did. */
export function isGone(error: unknown): error is HttpStatusError {
  return isHttpStatusError(error) && (error.status === 404 || error.status === 410)
}
