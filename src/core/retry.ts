// What a failed attempt means and how long to wait after it: the table of the storage's answers, backoff, Retry-After,
// and the account of retries that all files share. Pure: chance and the time of day come in as arguments.

import { utcMs } from './address.ts'
import { HttpStatusError, invariant, UploadError, type UploadErrorCode } from './errors.ts'
import type { Random, TransportReply, Unit, Verdict } from './ports.ts'

/** A verdict on an answer that was not a success. */
export type StorageFailure = Exclude<Verdict, { kind: 'received' }>

/** A longer Retry-After is not waited for by one part: the whole host gets its pause. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000
/** No pause is longer, whatever a host asks for: to ask again once an hour harms nobody, and every wait must end. */
export const MAX_HOLD_MS = 60 * 60_000

// ---- The table of answers ----------------------------------------------------------------------------------------

const MAX_READ_BYTES = 65_536
const EXPIRED_CODES = new Set(['ExpiredToken', 'RequestExpired', 'TokenRefreshRequired', 'AuthenticationFailed'])
const TRANSIENT_CODES = new Set(['RequestTimeout', 'IncompleteBody', 'OperationAborted', 'ConditionalRequestConflict'])
const DAMAGED_CODES = new Set(['BadDigest', 'Md5Mismatch', 'XAmzContentSHA256Mismatch'])
const THROTTLE_CODES = new Set(['SlowDown', 'SlowDownRead', 'SlowDownWrite', 'ServerBusy', 'TooManyRequests'])
const TRANSIENT_STATUSES = new Set([408, 425, 429, 499])
// These say that the request itself is not understood: sending it again changes nothing.
const LASTING_5XX = new Set([501, 505])

/**
 * What an answer other than 2xx means for a part sent to a pre-signed address. Reads the XML error of S3-compatible
 * stores and of Azure; the error names the part, the status and the store's code, never the body or the address.
 * A 403 that gives no reason asks for a renewal: the caller must allow only one of those per part.
 */
export function classifyStorageFailure(reply: TransportReply, unit: Unit): StorageFailure {
  const { status } = reply
  invariant(status < 200 || status > 299, `a failure has no status ${status}`)
  const { code, message } = readStorageError(reply)
  const again = (code: UploadErrorCode, reason: string): StorageFailure => {
    const retryAfterMs = retryAfterOf(reply)
    return {
      kind: 'retry',
      error: failure(code, reason, true),
      isThrottle: status === 429 || status === 503 || THROTTLE_CODES.has(storageCode),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }
  }
  const storageCode = code ?? ''
  const failure = (errorCode: UploadErrorCode, reason: string, isRetryable: boolean): UploadError =>
    refusal({ reply, unit, errorCode, storageCode: code, reason, isRetryable })

  if (status >= 300 && status < 400) {
    const reason = 'it redirects, and redirects are not followed'
    return { kind: 'final', error: failure('ERR_UPLOAD_REDIRECT_REFUSED', reason, false) }
  }
  if ((status === 400 || status === 401 || status === 403) && isExpiry(storageCode, message)) {
    return { kind: 'renew', error: failure('ERR_UPLOAD_ADDRESS_EXPIRED', 'the address has expired', false) }
  }
  if (THROTTLE_CODES.has(storageCode)) return again('ERR_UPLOAD_HTTP_STATUS', 'it is busy')
  if (status === 403) {
    if (/not (?:valid yet|yet valid)/i.test(message)) {
      return again('ERR_UPLOAD_ADDRESS_REFUSED', 'the address is not valid yet: a clock is wrong')
    }
    const error = failure('ERR_UPLOAD_ADDRESS_REFUSED', code === undefined ? 'it gives no reason' : '', false)
    return { kind: code === undefined ? 'renew' : 'final', error }
  }
  if (status === 401) return { kind: 'final', error: failure('ERR_UPLOAD_ADDRESS_REFUSED', '', false) }
  if (DAMAGED_CODES.has(storageCode)) {
    return again('ERR_UPLOAD_DIGEST_MISMATCH', 'the bytes were damaged on their way')
  }
  if (TRANSIENT_STATUSES.has(status) || TRANSIENT_CODES.has(storageCode)) {
    return again('ERR_UPLOAD_HTTP_STATUS', '')
  }
  if (status >= 500 && !LASTING_5XX.has(status)) return again('ERR_UPLOAD_HTTP_STATUS', '')
  const reason = storageCode === 'NoSuchUpload' ? 'this upload was ended or swept away there' : ''
  return { kind: 'final', error: failure('ERR_UPLOAD_HTTP_STATUS', reason, false) }
}

function isExpiry(code: string, message: string): boolean {
  return EXPIRED_CODES.has(code) || (code === 'AccessDenied' && /\bexpired\b/i.test(message))
}

/** The store's code and message. The code is shown to people, so only what looks like one is taken for one. */
function readStorageError(reply: TransportReply): { code: string | undefined; message: string } {
  const text = new TextDecoder().decode(reply.body.subarray(0, MAX_READ_BYTES))
  const looksLikeCode = /^[A-Z][A-Za-z0-9]{2,47}$/
  const code = [
    /<Code>\s{0,8}([A-Za-z0-9]{3,48})\s{0,8}<\/Code>/.exec(text)?.[1],
    reply.headers['x-ms-error-code'],
  ].find((candidate) => candidate !== undefined && looksLikeCode.test(candidate))
  return { code, message: /<Message>([^<]{0,1000})/.exec(text)?.[1] ?? '' }
}

function refusal(what: {
  reply: TransportReply
  unit: Unit
  errorCode: UploadErrorCode
  storageCode: string | undefined
  reason: string
  isRetryable: boolean
}): HttpStatusError {
  const { reply, unit, storageCode, reason } = what
  const verb = reply.status >= 500 ? 'could not take' : 'refused'
  const told = [String(reply.status), ...(storageCode === undefined ? [] : [storageCode])].join(' ')
  const message = `The storage ${verb} part ${unit.partNumber} (${told}${reason === '' ? '' : `: ${reason}`}).`
  return new HttpStatusError(what.errorCode, message, {
    status: reply.status,
    serviceCode: storageCode,
    retryAfterMs: retryAfterOf(reply),
    isRetryable: what.isRetryable,
    details: { fileIndex: unit.fileIndex, partNumber: unit.partNumber },
  })
}

// ---- How long to wait --------------------------------------------------------------------------------------------

/** A Retry-After that is a date is measured against the answer's own date, so that no clock of ours is involved. */
function retryAfterOf(reply: TransportReply): number | undefined {
  return parseRetryAfterMs(reply.headers['retry-after'], parseHttpDateMs(reply.headers['date']) ?? NaN)
}

/** A Retry-After header in ms from `wallNowMs`: seconds, or a date. The past is 0; what is neither is undefined. */
export function parseRetryAfterMs(value: string | undefined, wallNowMs: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^-?\d{1,12}(?:\.\d{1,9})?$/.test(text)) return Math.max(0, Number(text) * 1000)
  const dateMs = parseHttpDateMs(text)
  return dateMs === undefined || Number.isNaN(wallNowMs) ? undefined : Math.max(0, dateMs - wallNowMs)
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** An HTTP date, in each of the three forms of RFC 9110, in ms since 1970; undefined for anything else. */
export function parseHttpDateMs(value: string | undefined): number | undefined {
  const text = value?.trim() ?? ''
  const [, day, month, year, hour, minute, second] =
    /^[a-z]{3,9}, (\d\d)[ -]([a-z]{3})[ -](\d{4}|\d\d) (\d\d):(\d\d):(\d\d) GMT$/i.exec(text) ?? fromAsctime(text)
  if (month === undefined || year === undefined) return undefined
  // Two digits are of this century until 69; the form is older than the question.
  const fullYear = year.length === 4 ? Number(year) : Number(year) + (Number(year) < 70 ? 2000 : 1900)
  const monthNumber = MONTHS.indexOf(month.toLowerCase()) + 1
  return utcMs(fullYear, monthNumber, Number(day), Number(hour), Number(minute), Number(second))
}

/** Sun Nov  6 08:49:37 1994 */
function fromAsctime(text: string): readonly (string | undefined)[] {
  const match = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/i.exec(text)
  return match === null ? [] : [text, match[2], match[1], match[6], match[3], match[4], match[5]]
}

/** Exponential backoff with full jitter: anything from 0 to min(cap, base × 2^(attempt − 1)), in ms. Attempts from 1. */
export function backoffMs(options: {
  readonly attempt: number
  /** Default 500. */
  readonly baseMs?: number
  /** Default 30,000. */
  readonly capMs?: number
  readonly random: Random
}): number {
  const { attempt, baseMs = 500, capMs = 30_000, random } = options
  invariant(attempt >= 1, 'attempts count from 1')
  return Math.round(random() * Math.min(capMs, baseMs * 2 ** (attempt - 1)))
}

// ---- What to do next ---------------------------------------------------------------------------------------------

export interface RetryQuestion {
  /** Number of the attempt that failed, from 1; sets the backoff. */
  readonly attempt: number
  /** Attempts that reached the host, this one included if it did. Only these are counted against `retries`. */
  readonly reachedCount: number
  /** Attempts that may reach the host, the first included. Default 8. */
  readonly retries?: number
  readonly error: UploadError
  /** What the host asked for. */
  readonly retryAfterMs?: number | undefined
  readonly random: Random
}

/** `hold`: the host asked for a pause longer than a part waits by itself; all of its parts wait. */
export type RetryDecision =
  | { readonly kind: 'wait'; readonly delayMs: number }
  | { readonly kind: 'hold'; readonly delayMs: number }
  | { readonly kind: 'giveUp'; readonly error: UploadError }

/**
 * Whether a failed attempt is followed by another one, and when. An error that is not retryable is given back as it
 * is; used-up attempts become ERR_UPLOAD_RETRIES_EXHAUSTED with the last error as cause. A wait is never shorter than
 * the host asked for, unless it asked for more than MAX_HOLD_MS.
 */
export function decideRetry(question: RetryQuestion): RetryDecision {
  const { attempt, reachedCount, retries = 8, error, retryAfterMs, random } = question
  // A platform that follows redirects by itself reports the refusal as a missing answer; it is no less final for that.
  const isFinal = !error.isRetryable || error.code === 'ERR_UPLOAD_REDIRECT_REFUSED'
  if (isFinal) return { kind: 'giveUp', error }
  if (reachedCount >= retries) return { kind: 'giveUp', error: exhausted(reachedCount, error) }
  const ownMs = backoffMs({ attempt, random })
  if (retryAfterMs === undefined) return { kind: 'wait', delayMs: ownMs }
  // A tenth on top, so that all who were told the same second do not come back in it.
  const askedMs = Math.round(Math.min(retryAfterMs, MAX_HOLD_MS) * (1 + 0.1 * random()))
  const delayMs = Math.max(askedMs, ownMs)
  return { kind: retryAfterMs > MAX_RETRY_AFTER_MS ? 'hold' : 'wait', delayMs }
}

function exhausted(reachedCount: number, error: UploadError): UploadError {
  const count = reachedCount === 1 ? '1 attempt' : `${reachedCount} attempts`
  return new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', `Gave up after ${count}. The last one: ${error.message}`, {
    cause: error,
    details: { ...error.details, attempts: reachedCount, lastCode: error.code },
  })
}

// ---- The shared account ------------------------------------------------------------------------------------------

/** Retries that all files may still make at once. Plain data; each function returns the next state. */
export interface RetryBudget {
  readonly retriesLeft: number
  readonly partsDelivered: number
}

const FIRST_RETRIES = 10
const RETRIES_PER_PART = 0.2

/** A full account: 10 retries. */
export function createRetryBudget(): RetryBudget {
  return { retriesLeft: FIRST_RETRIES, partsDelivered: 0 }
}

/** A part was delivered: a fifth of a retry comes back, up to max(10, a fifth of all parts delivered). */
export function refillRetryBudget(budget: RetryBudget): RetryBudget {
  const partsDelivered = budget.partsDelivered + 1
  const most = Math.max(FIRST_RETRIES, partsDelivered * RETRIES_PER_PART)
  return { partsDelivered, retriesLeft: Math.min(most, budget.retriesLeft + RETRIES_PER_PART) }
}

/** Takes a retry. An empty account never refuses one: it is only put off, by 5 to 15 s on top of its own wait. */
export function spendRetry(budget: RetryBudget, random: Random): { budget: RetryBudget; delayMs: number } {
  if (budget.retriesLeft < 1) return { budget, delayMs: 5_000 + Math.round(random() * 10_000) }
  return { budget: { ...budget, retriesLeft: budget.retriesLeft - 1 }, delayMs: 0 }
}
