// What the status of an answer means for a call, pure.

import { isHttpStatusError, type HttpStatusError } from '../core/errors.ts'

export type AnswerClass = 'success' | 'redirect' | 'credentials' | 'refused' | 'again' | 'lasting'

export function classOfStatus(status: number): AnswerClass {
  if (status >= 200 && status < 300) return 'success'
  if (status >= 300 && status < 400) return 'redirect'
  if ([401, 403].includes(status)) return 'credentials'
  // The request is not understood: the same once more changes nothing.
  if ([501, 505].includes(status)) return 'lasting'
  if ([408, 425, 429].includes(status) || status >= 500) return 'again'
  return 'refused'
}

/** False when the far end says that it has not begun (RFC 6585, 8470, 9110); a 408 or 500 may come after the deed. */
export function isDoubtfulStatus(status: number): boolean {
  return classOfStatus(status) === 'again' && ![425, 429, 503].includes(status)
}

/** The service knows no such thing, or no more. */
export function isGone(error: unknown): error is HttpStatusError {
  return isHttpStatusError(error) && (error.status === 404 || error.status === 410)
}
