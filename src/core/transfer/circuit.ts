// One host that may be out of reach, or out of service: when to stop sending to it, when to probe, and when to give it up. Pure:
// times are given, on any clock that does not jump back. Closed, everything may go. Open, nothing may. Probing, exactly one
// part may, and its end decides. The host is given up only by a probe that failed, never by the mere passing of time.

import type { Random } from '../ports.ts'
import { MAX_RETRY_AFTER_MS, pauseFor } from '../retry.ts'

export interface CircuitOptions {
  /** How long the host may be out of reach, ms. Time in which nobody probed is not counted. */
  readonly giveUpAfterMs: number
  /** For the jitter of probes. Absent: no jitter. */
  readonly random?: Random
}

/** All times are on the clock of the caller, ms. */
export type CircuitState =
  | { readonly kind: 'closed' }
  | {
      readonly kind: 'open'
      readonly sinceMs: number
      /** When the next probe may start. */
      readonly untilMs: number
      /** A probe that fails at or after this time is the last. */
      readonly giveUpAtMs: number
    }
  | { readonly kind: 'probing'; readonly sinceMs: number; readonly giveUpAtMs: number }
  | { readonly kind: 'givenUp'; readonly sinceMs: number }

export interface Circuit {
  /** A request got no answer. */
  onFailure(nowMs: number): void
  /**
   * A request was answered with no more than: not now. A host that took something a moment ago only throttles, and is let alone by the
   * waits of each part; so is one that has not answered otherwise yet, while others are in flight: those may be what it takes.
   * `retryAfterMs`: the pause that it asked for; one that is longer than a part waits by itself opens at once. It is cut at the time of
   * giving up, so that it ends. `inFlight`: those others; default 0.
   */
  onRefusal(nowMs: number, retryAfterMs?: number, inFlight?: number): void
  /** Any other answer: the host is there. It does not end a pause that the host asked for. */
  onSuccess(nowMs: number): void
  /** The network may be back: the next probe may start now, unless the host itself asked for the pause. */
  probeNow(nowMs: number): void
  state(nowMs: number): CircuitState
}

/** Failures in a row, without another answer between them, that open the circuit. */
const FAILURES_TO_OPEN = 3
/** A host that refuses, and took something within this, is in service. */
const IN_SERVICE_MS = 5_000
const FIRST_PROBE_MS = 1_000
/** The longest time between probes. */
const LONGEST_PROBE_MS = 60_000

interface Outage {
  readonly sinceMs: number
  giveUpAtMs: number
  untilMs: number
  probeMs: number
  /** True from the first look at or after `untilMs` on, until that probe has ended. */
  isProbing: boolean
  /** True when the host itself asked for the pause; answers to other requests do not end it. */
  isHeld: boolean
}

export function createCircuit(options: CircuitOptions): Circuit {
  const { giveUpAfterMs, random = () => 0 } = options
  let failuresInRow = 0
  let answeredAtMs = -Infinity
  let outage: Outage | undefined
  let isGivenUp = false

  /** Turns a pause that is over into a probe. */
  const look = (nowMs: number): Outage | undefined => {
    if (outage === undefined || outage.isProbing || nowMs < outage.untilMs) return outage
    // What kept the probe back was a pause or a machine asleep.
    outage.giveUpAtMs += nowMs - outage.untilMs
    outage.isProbing = true
    return outage
  }
  /** `opens`: unless it is open, this failure opens it. */
  const fail = (nowMs: number, opens: boolean, retryAfterMs = 0): void => {
    let current = look(nowMs)
    if (current === undefined) {
      if (!opens) return
      const giveUpAtMs = nowMs + giveUpAfterMs
      // A pause that was asked for comes before the first probe, else that is due as after a probe that failed.
      const isProbing = retryAfterMs === 0
      current = { sinceMs: nowMs, giveUpAtMs, untilMs: nowMs, probeMs: FIRST_PROBE_MS, isProbing, isHeld: false }
      outage = current
    } else if (nowMs >= current.giveUpAtMs) isGivenUp = true
    if (isGivenUp) return
    // What fails while the circuit is open was under way before: it says nothing new, but that a pause is asked for.
    if (current.isProbing) {
      // A fifth earlier at most, so that many clients do not knock at once.
      wait(current, nowMs, current.probeMs * (1 - 0.2 * random()))
      current.probeMs = Math.min(current.probeMs * 2, LONGEST_PROBE_MS)
      current.isHeld = false
    }
    if (retryAfterMs > 0) {
      wait(current, nowMs, pauseFor(retryAfterMs, random))
      current.isHeld = true
    }
  }
  /** The next probe is no earlier than that, but for the last one, which is in time. */
  const wait = (current: Outage, nowMs: number, delayMs: number): void => {
    current.untilMs = Math.max(current.untilMs, Math.min(nowMs + delayMs, current.giveUpAtMs))
    current.isProbing = false
  }

  return {
    onFailure(nowMs) {
      failuresInRow += 1
      fail(nowMs, failuresInRow >= FAILURES_TO_OPEN)
    },
    onRefusal(nowMs, retryAfterMs = 0, inFlight = 0) {
      failuresInRow += 1
      const isInService = answeredAtMs === -Infinity ? inFlight > 0 : nowMs - answeredAtMs < IN_SERVICE_MS
      const isOut = failuresInRow >= FAILURES_TO_OPEN && !isInService
      fail(nowMs, isOut || retryAfterMs > MAX_RETRY_AFTER_MS, retryAfterMs)
    },
    onSuccess(nowMs) {
      const current = look(nowMs)
      failuresInRow = 0
      answeredAtMs = nowMs
      if (current?.isHeld === true && !current.isProbing) return
      outage = undefined
      isGivenUp = false
    },
    probeNow(nowMs) {
      const current = look(nowMs)
      if (current === undefined || current.isHeld) return
      current.untilMs = nowMs
    },
    state(nowMs) {
      const current = look(nowMs)
      if (current === undefined) return { kind: 'closed' }
      const { sinceMs, untilMs, giveUpAtMs } = current
      if (isGivenUp) return { kind: 'givenUp', sinceMs }
      return current.isProbing
        ? { kind: 'probing', sinceMs, giveUpAtMs }
        : { kind: 'open', sinceMs, untilMs, giveUpAtMs }
    },
  }
}
