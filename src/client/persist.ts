// Tries a call until something ends it. An unsuccessful answer uses up one of its tries. A host that is away, or as
// good as away, uses up none and is waited for, up to a limit. If each try that may have been heard can leave something
// behind, a host that is away is asked a harmless question instead, and the call is made again once that is answered.

import { isTransportError, type HttpStatusError, type UploadError } from '../core/errors.ts'
import type { Clock, HostWait, OnWaiting, Random, TransportReply } from '../core/ports.ts'
import { backoffMs, isAwayStatus, MAX_COUNTED_TRY_MS, MAX_OWN_PAUSE_MS, pauseFor } from '../core/retry.ts'
import { sleep } from '../core/time/sleep.ts'
import type { HostMemory } from './host-memory.ts'

export interface Patience {
  readonly clock: Clock
  readonly random: Random
  /** How many tries may follow the first. Only tries that used one up count. */
  readonly retries: number
  /** How long the host may be away, ms. Time in which this machine slept does not count. */
  readonly giveUpAfterMs: number
  /**
   * Gets the functions that end waits for answers that did not come. A pause after an answer is the host's, and keeps its time, as
   * does one after a try that counts: what ends waits is hearsay, and may come many times in a second.
   */
  readonly memory?: Pick<HostMemory, 'wakes'>
}

/** A try that may be followed by another. */
export interface Failure {
  /** `host:port`; undefined if nobody was asked yet, in which case no wait is reported. */
  readonly host: string | undefined
  /** That of an answer, or why none came. */
  readonly error: UploadError
  /** The same in a few words, such as `it answers 503`. */
  readonly reason: string
  /** The host may have heard the request. */
  readonly isDoubtful: boolean
  /** This machine has no network. That wait will not be short, so it is reported at once. */
  readonly isOffline?: boolean | undefined
  /** Only so many tries that fail like this are made, by whoever makes them. */
  readonly isCounted?: boolean | undefined
}

export type Tried<TResult, TFailure extends Failure> = { readonly result: TResult } | { readonly failure: TFailure }

/** The longest pause unless the host asks for more, ms. */
const MAX_WAIT_MS = 60_000
/** The same without a network, ms. Such a try burdens nobody, and the person who is back online waits for it. */
const MAX_OFFLINE_WAIT_MS = 10_000
/** No pause is shorter than this, ms, however the random draw falls. */
const MIN_WAIT_MS = 250
/** Waits are reported once no answer has come for this long, ms. A person does not notice less. */
const TOLD_FROM_MS = 2_000

/** What is tried, and how. */
export interface Persistence<TResult, TFailure extends Failure> {
  readonly operation: string
  readonly signal: AbortSignal
  readonly onWaiting?: OnWaiting | undefined
  /** Makes the call once. */
  tryOnce(): Promise<Tried<TResult, TFailure>>
  /**
   * Given for a call whose every heard try leaves something behind. Asks the question once. The host counts as there
   * unless this returns the failure of a host that is away.
   */
  readonly ask: (() => Promise<TFailure | undefined>) | undefined
}

/**
 * Returns the result, or the last failure. `awayMs` says how long the host had been away by then, and is undefined if
 * the tries were used up. Rejects with what a try rejects with, and with the signal's reason.
 */
export async function persist<TResult, TFailure extends Failure>(
  { clock, random, retries, giveUpAfterMs, memory }: Patience,
  { operation, signal, onWaiting, tryOnce, ask }: Persistence<TResult, TFailure>,
): Promise<{ readonly result: TResult } | { readonly failure: TFailure; readonly awayMs?: number }> {
  const [beganMs, sinceMs] = [clock.monotonicNow(), clock.wallNow()]
  let [tries, usedUp] = [0, 0]
  let isDoubtful = false
  let isAsking = false
  /** How long the host has been away, by tries and waits; -Infinity: it is not. */
  let awayMs = -Infinity
  /** A caller that wants no repetition does not want to wait for a host that answers either. */
  const isAwaited = ({ error }: Failure): boolean => isAway(error) && (retries > 0 || !('status' in error))
  for (;;) {
    void tell(onWaiting)
    const triedAtMs = clock.monotonicNow()
    let failure: TFailure
    let isUsed = false
    if (isAsking && ask) {
      const unanswered = await ask()
      if (!unanswered || !isAwaited(unanswered)) {
        isAsking = false
        awayMs = -Infinity
        continue
      }
      failure = unanswered
    } else {
      const tried = await tryOnce()
      if ('result' in tried) return tried
      failure = tried.failure
      isDoubtful ||= failure.isDoubtful
      const isOrphan = failure.isDoubtful && ask !== undefined
      isAsking = isOrphan && isAwaited(failure)
      isUsed = isOrphan || !isAwaited(failure)
      if (isUsed) usedUp += 1
      if (usedUp > retries) return { failure }
    }

    tries += 1
    const [nowMs, wallMs] = [clock.monotonicNow(), clock.wallNow()]
    // The outage begins with the end of the first try.
    awayMs = isAwaited(failure) ? Math.max(0, awayMs + Math.min(nowMs - triedAtMs, MAX_COUNTED_TRY_MS)) : -Infinity
    const restMs = giveUpAfterMs - awayMs
    if (restMs <= 0) return { failure, awayMs }
    const waitMs = Math.min(pauseAfter(failure, tries, random), restMs)
    const { host, error, reason, isOffline, isCounted } = failure
    if (host !== undefined && (isOffline || nowMs + waitMs - beganMs >= TOLD_FROM_MS)) {
      void tell(onWaiting, {
        host,
        operation,
        reason,
        status: (error as Partial<HttpStatusError>).status,
        isDoubtful,
        isOffline,
        sinceMs,
        untilMs: wallMs + waitMs,
        giveUpAtMs: isAwaited(failure) ? wallMs + restMs : undefined,
      })
    }
    await sleep(clock, waitMs, signal, isUsed || isCounted || 'status' in error ? undefined : memory?.wakes)
    // Time in which the machine slept does not count, nor what is left of a wait that was ended.
    awayMs += Math.min(waitMs, clock.monotonicNow() - nowMs)
  }
}

/** Whether nobody is there, or nothing is accepted now. An answer that cannot be read, or that redirects, is still an answer. */
export function isAway(outcome: TransportReply | UploadError): boolean {
  if ('status' in outcome) return isAwayStatus(outcome.status)
  return isTransportError(outcome) && !outcome.isUnreadable && outcome.code !== 'ERR_UPLOAD_REDIRECT_REFUSED'
}

/** A pause that the host asks for is honoured up to five minutes. */
function pauseAfter({ error, isOffline }: Failure, attempt: number, random: Random): number {
  const { retryAfterMs = 0 } = error as Partial<HttpStatusError>
  const askedMs = pauseFor(Math.min(retryAfterMs, MAX_OWN_PAUSE_MS), random)
  const ownMs = backoffMs(attempt, random, isOffline ? MAX_OFFLINE_WAIT_MS : MAX_WAIT_MS)
  return Math.max(ownMs, askedMs, MIN_WAIT_MS)
}

async function tell(onWaiting: OnWaiting | undefined, wait?: HostWait): Promise<void> {
  try {
    await onWaiting?.(wait)
  } catch {
    // A listener's mistake is not the call's.
  }
}
