// A circuit breaker for one host that may be out of reach or out of service: when to stop sending to it, when to probe it, and
// when to give it up. Pure: the caller passes the time, on any clock that does not jump back. Closed: everything may go. Open:
// nothing may. Probing: exactly one part may, and its end decides. Only a probe that failed gives the host up, never the mere
// passing of time.

import type { Random } from '../ports.ts'
import { MAX_COUNTED_TRY_MS, MAX_OWN_PAUSE_MS, pauseFor } from '../retry.ts'

export interface CircuitOptions {
  /** How long the host may be out of reach, ms. Time in which a due probe was not made does not count, nor most of a very long one. */
  readonly giveUpAfterMs: number
  /** For the jitter of the probes. */
  readonly random: Random
}

/** The state of a circuit. All times are on the caller's clock, ms. */
export type CircuitState =
  | { readonly kind: 'closed' }
  | {
      readonly kind: 'open' | 'probing' | 'givenUp'
      readonly sinceMs: number
      /** When the next probe may start, or might have started. */
      readonly untilMs: number
      /** A probe that fails at or after this time is the last. */
      readonly giveUpAtMs: number
    }

export interface Circuit {
  /** A request got no answer. */
  onFailure(nowMs: number): void
  /**
   * A request was answered with no more than: not now. A host that took something within the last 5 s only throttles: the waits
   * of the single parts are enough for it. The same holds for one that has not answered otherwise yet while other requests are
   * in flight, since those may be what it takes.
   *
   * `retryAfterMs`: the pause that the host asked for. One longer than a part waits by itself (5 min) opens the circuit at
   * once; it is cut at the time of giving up, so that it ends. `inFlight`: the number of other requests; default 0.
   */
  onRefusal(nowMs: number, retryAfterMs?: number, inFlight?: number): void
  /** Any other answer: the host is there. It does not end a pause that the host asked for. */
  onSuccess(nowMs: number): void
  /** The network may be back: the next probe may start now, unless the host itself asked for the pause. */
  probeNow(nowMs: number): void
  state(nowMs: number): CircuitState
}

/** Failures in a row that open the circuit; any other answer resets the count. */
const FAILURES_TO_OPEN = 3
/** A host that refuses, but took something within this time, is in service, ms. */
const IN_SERVICE_MS = 5_000
const FIRST_PROBE_MS = 1_000
/** The longest time between probes, ms. */
const LONGEST_PROBE_MS = 60_000

interface Outage {
  readonly sinceMs: number
  giveUpAtMs: number
  untilMs: number
  probeMs: number
  /** True from the first look at or after `untilMs` until that probe has ended. */
  isProbing: boolean
  /** True when the host itself asked for the pause; answers to other requests do not end it. */
  isHeld: boolean
}

export function createCircuit(options: CircuitOptions): Circuit {
  const { giveUpAfterMs, random } = options
  let failuresInRow = 0
  let answeredAtMs = -Infinity
  let outage: Outage | undefined
  let isGivenUp = false

  /** Turns a pause that is over into a probe. */
  const look = (nowMs: number): Outage | undefined => {
    if (!outage || outage.isProbing || nowMs < outage.untilMs) return outage
    // The probe is late because of a pause, or because the machine slept. That time does not count.
    outage.giveUpAtMs += nowMs - outage.untilMs
    outage.untilMs = nowMs
    outage.isProbing = true
    return outage
  }
  /** Records a failure. A host that is in service is left alone only when it asks for a longer pause than a part waits. */
  const fail = (nowMs: number, isInService: boolean, retryAfterMs = 0): void => {
    failuresInRow += 1
    const opens = (failuresInRow >= FAILURES_TO_OPEN && !isInService) || retryAfterMs > MAX_OWN_PAUSE_MS
    let current = look(nowMs)
    if (!current) {
      if (!opens) return
      const giveUpAtMs = nowMs + giveUpAfterMs
      // A pause that the host asked for comes before the first probe. Without one, this failure counts as that of a probe.
      const isProbing = !(retryAfterMs > 0)
      current = outage = {
        sinceMs: nowMs,
        giveUpAtMs,
        untilMs: nowMs,
        probeMs: FIRST_PROBE_MS,
        isProbing,
        isHeld: false,
      }
    } else {
      // A machine that sleeps may do so during a probe, too.
      current.giveUpAtMs += Math.max(0, nowMs - current.untilMs - MAX_COUNTED_TRY_MS)
      if (nowMs >= current.giveUpAtMs) isGivenUp = true
    }
    if (isGivenUp) return
    // What fails while the circuit is open was under way before. All it can add is that the host asks for a pause.
    if (current.isProbing) {
      // Up to a fifth earlier, so that many clients do not knock at once.
      wait(current, nowMs, current.probeMs * (1 - 0.2 * random()))
      current.probeMs = Math.min(current.probeMs * 2, LONGEST_PROBE_MS)
      current.isHeld = false
    }
    if (retryAfterMs > 0) {
      wait(current, nowMs, pauseFor(retryAfterMs, random))
      current.isHeld = true
    }
  }
  /** Puts the next probe off by at least this long, but never beyond the time of giving up: the last probe must be in time. */
  const wait = (current: Outage, nowMs: number, delayMs: number): void => {
    current.untilMs = Math.max(current.untilMs, Math.min(nowMs + delayMs, current.giveUpAtMs))
    current.isProbing = false
  }

  return {
    onFailure: (nowMs) => fail(nowMs, false),
    onRefusal(nowMs, retryAfterMs, inFlight = 0) {
      fail(nowMs, answeredAtMs === -Infinity ? inFlight > 0 : nowMs - answeredAtMs < IN_SERVICE_MS, retryAfterMs)
    },
    onSuccess(nowMs) {
      const current = look(nowMs)
      failuresInRow = 0
      answeredAtMs = nowMs
      if (current?.isHeld && !current.isProbing) return
      outage = undefined
      isGivenUp = false
    },
    probeNow(nowMs) {
      const current = look(nowMs)
      if (!current || current.isHeld) return
      current.untilMs = nowMs
    },
    state(nowMs) {
      const current = look(nowMs)
      if (!current) return { kind: 'closed' }
      const { sinceMs, untilMs, giveUpAtMs, isProbing } = current
      return { kind: isGivenUp ? 'givenUp' : isProbing ? 'probing' : 'open', sinceMs, untilMs, giveUpAtMs }
    },
  }
}
