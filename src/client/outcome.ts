// What an answer or a missing answer means for a call, pure: whether the service may have acted on it, and the error
// it becomes when nothing more is tried.

import { HttpStatusError, TransportError, UploadError, withDetails } from '../core/errors.ts'
import type { UploadErrorCode } from '../core/errors.ts'
import type { Explain, TransportReply } from '../core/ports.ts'
import type { ServiceCall } from './attempt.ts'
import { serviceCodeOf, serviceWords } from './reply.ts'

export type AnswerClass = 'success' | 'redirect' | 'credentials' | 'refused' | 'again' | 'lasting'

export function classOfStatus(status: number): AnswerClass {
  if (status >= 200 && status < 300) return 'success'
  if (status >= 300 && status < 400) return 'redirect'
  if (status === 401 || status === 403) return 'credentials'
  // The request is not understood: the same once more changes nothing.
  if (status === 501 || status === 505) return 'lasting'
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'again'
  return 'refused'
}

/** False when the service says that it has not begun (RFC 6585, 8470, 9110); a 408 or 500 may come after the deed. */
export function isDoubtfulStatus(status: number): boolean {
  return classOfStatus(status) === 'again' && status !== 425 && status !== 429 && status !== 503
}

/** The host is there and takes nothing now, or its gateway finds nobody behind it: it is waited for as one that is away. */
export function isAwayStatus(status: number): boolean {
  return [429, 502, 503, 504].includes(status)
}

/** True when the whole request may have reached the service. */
export function isDoubtfulMissing(error: TransportError): boolean {
  return error.phase !== 'connect' && error.ending === 'doubtful'
}

/** What a final error tells of the call that it ended. */
export interface CallFacts {
  readonly attempts: number
  /** An earlier or this try may have been acted on. */
  readonly isDoubtful: boolean
  readonly secret: string
}

type FailureClass = Exclude<AnswerClass, 'success'>

const CODE_OF_CLASS: Readonly<Record<FailureClass, UploadErrorCode>> = {
  redirect: 'ERR_UPLOAD_REDIRECT_REFUSED',
  credentials: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
  refused: 'ERR_UPLOAD_SERVICE_REFUSED',
  again: 'ERR_UPLOAD_HTTP_STATUS',
  lasting: 'ERR_UPLOAD_HTTP_STATUS',
}

/** The error of an answer that is no success. */
export function statusError(
  call: ServiceCall,
  reply: TransportReply,
  facts: CallFacts,
  retryAfterMs?: number,
): HttpStatusError {
  const { status } = reply
  const { words: asked } = call
  const answerClass = classOfStatus(status) as FailureClass
  const failed = `The service failed to ${asked} (${status})`
  const head = {
    redirect: `The service answered ${status} when asked to ${asked}, and redirects are not followed: check the base URL`,
    credentials: `The service refused the credentials when asked to ${asked} (${status}): check the API key or the access token`,
    refused: `The service refused to ${asked} (${status})`,
    again: failed,
    lasting: failed,
  }[answerClass]
  const words = serviceWords(reply, facts.secret)
  return new HttpStatusError(CODE_OF_CLASS[answerClass], `${head}.${words === '' ? '' : ` It says: ${words}`}`, {
    status,
    serviceCode: serviceCodeOf(reply, facts.secret),
    retryAfterMs,
    isRetryable: answerClass === 'again',
    details: detailsOf(call, facts),
  })
}

/** The error of a call whose tries are used up; the last one is its cause. */
export function exhausted(call: ServiceCall, facts: CallFacts, cause: UploadError): UploadError {
  const message = `Gave up after ${facts.attempts} attempts to ${call.words}. The last: ${cause.message}`
  const status = cause instanceof HttpStatusError ? { status: cause.status } : {}
  return new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', message, {
    cause,
    isRetryable: true,
    details: { ...status, ...detailsOf(call, facts) },
  })
}

/** The error of a host that cannot be reached, or takes nothing; `forMs` is how long it was waited for, if it was. */
export function unreachable(
  call: ServiceCall,
  facts: CallFacts,
  options: {
    readonly host: string
    readonly forMs?: number
    readonly error: TransportError | HttpStatusError
    readonly hasHostAnswered?: boolean
    readonly explain?: Explain | undefined
  },
): UploadError {
  const { host, forMs, error, hasHostAnswered, explain } = options
  const time = forMs === undefined ? '' : ` for ${Math.round(forMs / 1000)} s`
  const tries = `Gave up after ${facts.attempts} attempts to ${call.words}.`
  const isAnswer = 'status' in error
  const message = isAnswer
    ? `${host} was asked in vain${time}. ${tries} The last: ${error.message}`
    : `Could not reach ${host}${time} (${reasonOf(error, explain)}). ${tries} Check ${hasHostAnswered ? '' : 'the base URL and '}the network.`
  const details = { host, forMs, status: isAnswer ? error.status : undefined, ...detailsOf(call, facts) }
  return new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', message, { cause: error, isRetryable: true, details })
}

/** The error of a missing answer that must not be risked again. */
export function doubtfulEnd(call: ServiceCall, facts: CallFacts, cause: TransportError): UploadError {
  const code = cause.code === 'ERR_UPLOAD_TIMEOUT' ? cause.code : 'ERR_UPLOAD_NETWORK'
  const message = `The service gave no answer (${reasonOf(cause)}) when asked to ${call.words}, so it may or may not have been done.`
  return new UploadError(code, message, { cause, details: detailsOf(call, facts) })
}

/** The same error with the facts of the call. */
export function withFacts(call: ServiceCall, facts: CallFacts, error: TransportError): UploadError {
  return withDetails(error, detailsOf(call, facts))
}

export function detailsOf(call: ServiceCall, facts: CallFacts): Readonly<Record<string, unknown>> {
  const { attempts, isDoubtful } = facts
  return { operation: call.operation, attempts, isDoubtful }
}

/** What counts as an answer that uses up an attempt: the host is there. What broke off was the doing of a proxy, or of the service. */
export function brokenOff(): TransportError {
  const how = { ending: 'doubtful', phase: 'answer', isUnreadable: true } as const
  return new TransportError('ERR_UPLOAD_NETWORK', 'The answer broke off.', how)
}

/** Why no answer came, in a few words: the platform's, which knows its system, or what every transport tells. */
export function reasonOf(error: TransportError, explain?: Explain): string {
  const reason = explain?.(error).reason
  if (reason !== undefined) return reason
  if (error.code === 'ERR_UPLOAD_TIMEOUT') return 'no answer in time'
  return error.phase === 'connect' ? 'no connection' : 'connection lost'
}
