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
  /** The host cannot be reached, or takes nothing now. */
  readonly isAway: boolean
  /** It may have been heard. */
  readonly isDoubtful: boolean
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

/**
 * Gives the result, or the failure that was the last: `awayMs` says how long the host was away by then, and is undefined where the
 * tries were used up. `tryOnce` makes the call, or asks the question, which every end but a host that is away answers. Rejects with
 * what `tryOnce` rejects with, and with the signal's reason.
 */
export async function persist<TResult, TFailure extends Failure>(
  { clock, random, retries, giveUpAfterMs }: Patience,
  call: {
    readonly operation: string
    /** A try that was heard leaves something behind, though its answer was lost. */
    readonly leavesOrphans: boolean
    readonly signal: AbortSignal
    readonly onWaiting?: OnWaiting | undefined
  },
  tryOnce: (isQuestion: boolean) => Promise<Tried<TResult, TFailure>>,
): Promise<{ readonly result: TResult } | { readonly failure: TFailure; readonly awayMs?: number }> {
  const [beganMs, sinceMs] = [clock.monotonicNow(), clock.wallNow()]
  let tries = 0
  let usedUp = 0
  let isDoubtful = false
  let isQuestion = false
  let awaySinceMs: number | undefined
  const tell = (wait?: HostWait): void => {
    try {
      call.onWaiting?.(wait)
    } catch {
      // A listener's mistake is not the call's.
    }
  }
  for (;;) {
    tell()
    const tried: Tried<TResult, TFailure> = await tryOnce(isQuestion)
    const isThere = !('failure' in tried && tried.failure.isAway)
    if (isThere) awaySinceMs = undefined
    if (isQuestion && isThere) {
      isQuestion = false
      continue
    }
    if ('result' in tried) return tried
    const { failure } = tried
    const isHeard: boolean = failure.isDoubtful && !isQuestion
    const isOrphan: boolean = isHeard && call.leavesOrphans
    tries += 1
    isDoubtful ||= isHeard
    isQuestion ||= isOrphan && !isThere
    if (isOrphan || isThere) usedUp += 1
    if (usedUp > retries) return { failure }

    const [nowMs, wallMs] = [clock.monotonicNow(), clock.wallNow()]
    if (!isThere) awaySinceMs ??= nowMs
    const restMs = awaySinceMs === undefined ? Infinity : awaySinceMs + giveUpAfterMs - nowMs
    if (restMs <= 0) return { failure, awayMs: giveUpAfterMs - restMs }
    // Clients that were refused together should not come back together, so a little chance goes on top.
    const askedMs = Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) * (1 + random() / 10)
    const ownMs = backoffMs({ attempt: tries, baseMs: BASE_WAIT_MS, capMs: MAX_WAIT_MS, random })
    const waitMs = Math.min(Math.max(ownMs, askedMs, MIN_WAIT_MS), restMs)
    if (failure.host !== undefined && nowMs + waitMs - beganMs >= TOLD_FROM_MS) {
      const { host, reason } = failure
      const giveUpAtMs = isThere ? undefined : wallMs + restMs
      tell({ host, operation: call.operation, reason, isDoubtful, sinceMs, untilMs: wallMs + waitMs, giveUpAtMs })
    }
    await sleep(clock, waitMs, call.signal)
  }
}
