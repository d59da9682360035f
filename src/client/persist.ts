// A call is tried until something ends it. An answer uses up one of its tries; a host that is away, or as good as away, uses
// up none and is waited for, up to a limit. Where each try that may have been heard can leave something behind, a host that is
// away is asked a harmless question meanwhile, and the call is made again when that is answered.

import type { Clock, HostWait, OnWaiting, Random } from '../core/ports.ts'
import { backoffMs, MAX_RETRY_AFTER_MS } from '../core/retry.ts'
import { sleep } from '../core/time/sleep.ts'

export interface Patience {
  readonly clock: Clock
  readonly random: Random
  /** Repetitions after the first try, of tries that used one up. */
  readonly retries: number
  /** How long the host may be away, ms. */
  readonly giveUpAfterMs: number
}

/** A try that another one may follow. */
export interface Failure {
  /** `host:port`; undefined where nobody was asked yet, and no wait is told. */
  readonly host: string | undefined
  /** In a few words, such as `it answers 503`. */
  readonly reason: string
  /** Of its answer, where there is one. */
  readonly status?: number | undefined
  /** The host cannot be reached, or takes nothing now. */
  readonly isAway: boolean
  /** It may have been heard. */
  readonly isDoubtful: boolean
  /** This machine is without a network: that is no short wait, and is told at once. */
  readonly isOffline?: boolean | undefined
  /** The pause that the host asks for, ms; kept up to five minutes. */
  readonly retryAfterMs?: number | undefined
}

export type Tried<TResult, TFailure extends Failure> = { readonly result: TResult } | { readonly failure: TFailure }

/** The first pause is half of this on average, and each doubles it up to the cap, ms. */
const BASE_WAIT_MS = 500
const MAX_WAIT_MS = 60_000
/** Nobody is asked more often than this, whatever the dice say. */
const MIN_WAIT_MS = 250
/** A person does not notice a shorter wait, ms. */
const TOLD_FROM_MS = 2_000

/** What is tried. */
export interface Persistence<TResult, TFailure extends Failure> {
  readonly operation: string
  readonly signal: AbortSignal
  readonly onWaiting?: OnWaiting | undefined
  /** Makes the call once. */
  tryOnce(): Promise<Tried<TResult, TFailure>>
  /**
   * Given for a call of which each try that was heard leaves something behind: asks the question once. Whatever comes of it but the
   * failure of a host that is away says that it is there.
   */
  readonly ask: (() => Promise<TFailure | undefined>) | undefined
}

/**
 * Gives the result, or the failure that was the last: `awayMs` says how long the host was away by then, and is undefined where the
 * tries were used up. Rejects with what a try rejects with, and with the signal's reason.
 */
export async function persist<TResult, TFailure extends Failure>(
  { clock, random, retries, giveUpAfterMs }: Patience,
  { operation, signal, onWaiting, tryOnce, ask }: Persistence<TResult, TFailure>,
): Promise<{ readonly result: TResult } | { readonly failure: TFailure; readonly awayMs?: number }> {
  const [beganMs, sinceMs] = [clock.monotonicNow(), clock.wallNow()]
  let [tries, usedUp] = [0, 0]
  let isDoubtful = false
  let isAsking = false
  let awaySinceMs: number | undefined
  for (;;) {
    tell(onWaiting)
    let failure: TFailure
    if (isAsking && ask) {
      const unanswered = await ask()
      if (!unanswered?.isAway) {
        isAsking = false
        awaySinceMs = undefined
        continue
      }
      failure = unanswered
    } else {
      const tried = await tryOnce()
      if ('result' in tried) return tried
      failure = tried.failure
      isDoubtful ||= failure.isDoubtful
      const isOrphan = failure.isDoubtful && ask !== undefined
      isAsking = isOrphan && failure.isAway
      if (isOrphan || !failure.isAway) usedUp += 1
      if (usedUp > retries) return { failure }
    }

    tries += 1
    const [nowMs, wallMs] = [clock.monotonicNow(), clock.wallNow()]
    awaySinceMs = failure.isAway ? (awaySinceMs ?? nowMs) : undefined
    const restMs = awaySinceMs === undefined ? Infinity : awaySinceMs + giveUpAfterMs - nowMs
    if (restMs <= 0) return { failure, awayMs: giveUpAfterMs - restMs }
    const waitMs = Math.min(pauseAfter(failure, tries, random), restMs)
    const { host, reason, status, isAway, isOffline } = failure
    if (host !== undefined && (isOffline || nowMs + waitMs - beganMs >= TOLD_FROM_MS)) {
      const [untilMs, giveUpAtMs] = [wallMs + waitMs, isAway ? wallMs + restMs : undefined]
      tell(onWaiting, {
        host,
        operation,
        reason,
        status,
        isDoubtful,
        isOffline,
        sinceMs,
        untilMs,
        giveUpAtMs,
      })
    }
    await sleep(clock, waitMs, signal)
  }
}

/** Clients that were refused together should not come back together, so a little chance goes on top of what the host asks for. */
function pauseAfter({ retryAfterMs = 0 }: Failure, attempt: number, random: Random): number {
  const askedMs = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) * (1 + random() / 10)
  const ownMs = backoffMs({ attempt, baseMs: BASE_WAIT_MS, capMs: MAX_WAIT_MS, random })
  return Math.max(ownMs, askedMs, MIN_WAIT_MS)
}

function tell(onWaiting: OnWaiting | undefined, wait?: HostWait): void {
  try {
    onWaiting?.(wait)
  } catch {
    // A listener's mistake is not the call's.
  }
}
