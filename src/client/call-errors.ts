// The errors of a call without success, in words that say what was asked for.

import { detailsOf, HttpStatusError, UploadError, withDetails } from '../core/errors.ts'
import type { UploadErrorCode, TransportError } from '../core/errors.ts'
import type { Explain, TransportReply } from '../core/ports.ts'
import type { HostMemory } from './host-memory.ts'
import { serviceCodeOf, serviceWords, type Asked } from './reply.ts'
import { classOfStatus, type AnswerClass } from './status.ts'

/** What was asked for, and what has become of it so far. */
interface AskedSoFar extends Asked {
  readonly attempts: number
  /** Whether this try or an earlier one may have been acted on. */
  readonly isDoubtful: boolean
}

/**
 * The error of an answer that is no success. `secret` is the credential, which no quoted word of the answer may repeat.
 */
export function statusError(
  asked: AskedSoFar,
  reply: TransportReply,
  secret: string,
  retryAfterMs?: number,
): HttpStatusError {
  const { status } = reply
  const { words } = asked
  const answerClass = classOfStatus(status)
  const table: Partial<Record<AnswerClass, readonly [UploadErrorCode, string]>> = {
    redirect: [
      'ERR_UPLOAD_REDIRECT_REFUSED',
      `The service answered ${status} when asked to ${words}, and redirects are not followed: check the base URL`,
    ],
    credentials: [
      'ERR_UPLOAD_CREDENTIALS_REFUSED',
      `The service refused the credentials when asked to ${words} (${status}): check the API key or the access token`,
    ],
    refused: ['ERR_UPLOAD_SERVICE_REFUSED', `The service refused to ${words} (${status})`],
  }
  const [code, head] = table[answerClass] ?? ['ERR_UPLOAD_HTTP_STATUS', `The service failed to ${words} (${status})`]
  const said = serviceWords(reply, secret)
  return new HttpStatusError(code, `${head}.${said === '' ? '' : ` It says: ${said}`}`, {
    status,
    serviceCode: serviceCodeOf(reply, secret),
    retryAfterMs,
    isRetryable: answerClass === 'again',
    details: { ...askedDetails(asked), isBaseUrlDoubtful: answerClass === 'redirect' || undefined },
  })
}

/** The error of a call that has used up its tries. The last failure is its cause. */
export function exhausted(asked: AskedSoFar, cause: UploadError): UploadError {
  return new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', `${gaveUp(asked)} The last: ${cause.message}`, {
    cause,
    isRetryable: true,
    details: { status: (cause as Partial<HttpStatusError>).status, ...askedDetails(asked) },
  })
}

/**
 * The error of a host that cannot be reached, or that accepts nothing. `awayMs` is how long it was waited for; undefined if it
 * was not.
 */
export function unreachable(
  { host, hasAnswered }: Pick<HostMemory, 'host' | 'hasAnswered'>,
  asked: AskedSoFar,
  { error, reason }: { readonly error: UploadError; readonly reason: string },
  awayMs?: number,
): UploadError {
  // Whoever gives the credential is out of reach, and not this host.
  if (credentialOf(error)) return withDetails(error, askedDetails(asked))
  const time = awayMs === undefined ? '' : ` for ${Math.round(awayMs / 1000)} s`
  const { status } = error as Partial<HttpStatusError>
  const isBaseUrlDoubtful = !hasAnswered || undefined
  const message =
    status === undefined
      ? `Could not reach ${host}${time} (${reason}). ${gaveUp(asked)} Check ${isBaseUrlDoubtful ? 'the base URL and ' : ''}the network.`
      : `${host} was asked in vain${time}. ${gaveUp(asked)} The last: ${error.message}`
  const details = { host, forMs: awayMs, status, isBaseUrlDoubtful, ...askedDetails(asked) }
  return new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', message, { cause: error, isRetryable: true, details })
}

/** The error of a call that got no answer and must not be risked again. */
export function doubtfulEnd(asked: AskedSoFar, cause: TransportError): UploadError {
  const code = cause.code === 'ERR_UPLOAD_TIMEOUT' ? cause.code : 'ERR_UPLOAD_NETWORK'
  const message = `The service gave no answer (${reasonOf(cause)}) when asked to ${asked.words}, so it may or may not have been done.`
  return new UploadError(code, message, { cause, details: askedDetails(asked) })
}

export function askedDetails({ operation, attempts, isDoubtful }: AskedSoFar): UploadError['details'] {
  return { operation, attempts, isDoubtful }
}

/** Why no answer came, in a few words: the platform's own if it knows, else what every transport can tell. */
export function reasonOf(error: TransportError, explain?: Explain): string {
  const credential = credentialOf(error)
  const reason = credential ? `no ${credential}` : explain?.(error).reason
  if (reason) return reason
  if (error.code === 'ERR_UPLOAD_TIMEOUT') return 'no answer in time'
  return error.phase === 'connect' ? 'no connection' : 'connection lost'
}

/** Which credential a function failed to give. */
function credentialOf(error: UploadError): string | undefined {
  return detailsOf(error)['credential'] as string | undefined
}

function gaveUp({ attempts, words }: AskedSoFar): string {
  return `Gave up after ${attempts} attempt${attempts > 1 ? 's' : ''} to ${words}.`
}
