// Whether a failed attempt is followed by another one, and when. Pure: chance comes in as an argument.

import { invariant, UploadError } from './errors.ts'
import type { Random } from './ports.ts'

/** A longer Retry-After is not waited for by one part: the whole host gets its pause. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000
/** No pause is longer, whatever a host asks for: to ask again once an hour harms nobody, and every wait must end. */
export const MAX_HOLD_MS = 60 * 60_000

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
  // Also for a number of retries that is none.
  if (!(reachedCount < retries)) return { kind: 'giveUp', error: exhausted(reachedCount, error) }
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
