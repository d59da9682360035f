// Whether a failed attempt is followed by another one, and when. Pure: randomness comes in as an argument.

import { UploadError } from './errors.ts'
import type { Random } from './ports.ts'

/**
 * The longest pause that a part waits by itself, ms. A host that asks for a longer one is out of service: all parts wait for it. A
 * call of the service waits no longer either.
 */
export const MAX_OWN_PAUSE_MS = 300_000
/** A try counts for no more than this when a host is given up, ms: during a longer one bytes moved, or the machine slept. */
export const MAX_COUNTED_TRY_MS = 300_000
/** The longest pause, whatever a host asks for, ms: asking again once an hour harms nobody, and every wait must end. */
const MAX_PAUSE_MS = 3_600_000

/**
 * Whether a failure may pass by itself, by its status alone. A 499 comes from a proxy whose caller seemed to hang up. A 501 or 505
 * says that the request itself is not understood.
 */
export function isPassingStatus(status: number): boolean {
  return [408, 425, 429, 499].includes(status) || (status >= 500 && ![501, 505].includes(status))
}

/**
 * Whether the host is there but takes nothing now, its gateway finds nobody behind it, or the network between wants a sign-in first
 * (511). It is then waited for as if it were away.
 */
export function isAwayStatus(status: number | undefined): boolean {
  return [429, 502, 503, 504, 511].includes(status as number)
}

/**
 * How long to leave alone a host that asks for a pause, ms: up to a tenth longer, so that clients which were told the same
 * second do not all come back in it. A host's protocol may give NaN, or a text that is no number: that asks for nothing.
 */
export function pauseFor(retryAfterMs: number, random: Random): number {
  return Math.round(Math.min(retryAfterMs, MAX_PAUSE_MS) * (1 + 0.1 * random())) || 0
}

/**
 * Exponential backoff with full jitter: anything from 0 to min(cap, 500 × 2^(attempt − 1)), in ms. `attempt` counts from 1.
 */
export function backoffMs(attempt: number, random: Random, capMs = 30_000): number {
  return Math.round(random() * Math.min(capMs, 250 * 2 ** attempt))
}

export interface RetryQuestion {
  /** Number of the attempt that failed, from 1; sets the backoff. */
  readonly attempt: number
  /** How many tries are used up, this attempt included as far as it counts: only attempts that reached the host do. */
  readonly usedTries: number
  /** The maximum number of tries, the first included. */
  readonly retries: number
  readonly error: UploadError
  /** The pause that the host asked for, ms. */
  readonly retryAfterMs?: number | undefined
  readonly random: Random
}

export type RetryDecision =
  { readonly kind: 'wait'; readonly delayMs: number } | { readonly kind: 'giveUp'; readonly error: UploadError }

/**
 * Whether a failed attempt is followed by another one, and when. An error that is not retryable is given back as it is. When
 * the tries are used up, the error becomes ERR_UPLOAD_RETRIES_EXHAUSTED with the last error as cause; a missing ETag and a
 * hidden answer keep their own codes, because trying again later does not mend them. A wait is never shorter than the host
 * asked for, unless it asked for more than an hour.
 */
export function decideRetry(question: RetryQuestion): RetryDecision {
  const { attempt, usedTries, retries, error, retryAfterMs = 0, random } = question
  // A platform that follows redirects by itself reports the refusal as a missing answer, which is no less final.
  const isFinal = !error.isRetryable || error.code === 'ERR_UPLOAD_REDIRECT_REFUSED'
  if (isFinal) return { kind: 'giveUp', error }
  // Written so that NaN gives up, too.
  if (!(Math.ceil(usedTries) < retries)) return { kind: 'giveUp', error: exhausted(attempt, error) }
  return { kind: 'wait', delayMs: Math.max(pauseFor(retryAfterMs, random), backoffMs(attempt, random)) }
}

function exhausted(attempts: number, error: UploadError): UploadError {
  const { code } = error
  const isLasting = code === 'ERR_UPLOAD_ETAG_MISSING' || code === 'ERR_UPLOAD_ANSWER_HIDDEN'
  return new UploadError(
    isLasting ? code : 'ERR_UPLOAD_RETRIES_EXHAUSTED',
    `Gave up after ${attempts} attempt${attempts > 1 ? 's' : ''}. The last one: ${error.message}`,
    {
      cause: error,
      details: { ...error.details, attempts, lastCode: code },
    },
  )
}
