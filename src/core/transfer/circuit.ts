// One host that may be out of reach: when to stop sending to it, when to probe, and when to give it up. Pure: times are
// given, on any clock that does not jump back. Closed, everything may go. Open, nothing may. Probing, exactly one small
// part may, and its end decides. The host is given up only by a probe that failed, never by the mere passing of time.

import type { Random } from '../ports.ts'

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
  /** Any answer at all: the host is there. It does not end a pause that the host asked for. */
  onSuccess(nowMs: number): void
  /** The network may be back: the next probe may start now, unless the host itself asked for the pause. */
  probeNow(nowMs: number): void
  /** The host asked for a pause until then. Cut at the time of giving up, so that it ends. Returns its end. */
  holdUntil(untilMs: number): number
  state(nowMs: number): CircuitState
}

/** Failures in a row, without an answer between them, that open the circuit. */
const FAILURES_TO_OPEN = 3
const FIRST_PROBE_MS = 1_000
/** The longest time between probes. */
const LONGEST_PROBE_MS = 60_000
/** A probe that starts later than this was kept back by a pause or by a machine asleep. */
const LATE_MS = 5_000

interface Outage {
  readonly sinceMs: number
  giveUpAtMs: number
  untilMs: number
  probeMs: number
  /** True from the first look at or after `untilMs` on, until that probe has ended. */
  isProbing: boolean
  /** True when the host itself asked for the pause; answers to other requests do not end it. */
  isHeld: boolean
  isGivenUp: boolean
}

export function createCircuit(options: CircuitOptions): Circuit {
  const { giveUpAfterMs, random } = options
  let failuresInRow = 0
  let seenMs: number | undefined
  let outage: Outage | undefined

  /** The next probe: a fifth earlier at most, so that many clients do not knock at once, and never after the end. */
  const planProbe = (current: Outage, nowMs: number): void => {
    const delayMs = current.probeMs * (1 - 0.2 * (random?.() ?? 0))
    current.untilMs = Math.max(nowMs, Math.min(nowMs + delayMs, current.giveUpAtMs))
    current.probeMs = Math.min(current.probeMs * 2, LONGEST_PROBE_MS)
    current.isProbing = false
  }
  const begin = (sinceMs: number): Outage => ({
    sinceMs,
    giveUpAtMs: sinceMs + giveUpAfterMs,
    untilMs: sinceMs,
    probeMs: FIRST_PROBE_MS,
    isProbing: false,
    isHeld: false,
    isGivenUp: false,
  })
  /** Turns a pause that is over into a probe. */
  const look = (nowMs: number): Outage | undefined => {
    seenMs = nowMs
    if (outage === undefined || outage.isProbing || outage.isGivenUp || nowMs < outage.untilMs) return outage
    const lateMs = nowMs - outage.untilMs
    if (lateMs > LATE_MS) outage.giveUpAtMs += lateMs
    outage.isProbing = true
    return outage
  }

  return {
    onFailure(nowMs) {
      const current = look(nowMs)
      failuresInRow += 1
      if (current === undefined) {
        if (failuresInRow < FAILURES_TO_OPEN) return
        outage = begin(nowMs)
        planProbe(outage, nowMs)
        return
      }
      // What fails while the circuit is open was under way before: it says nothing new.
      if (!current.isProbing || current.isGivenUp) return
      current.isHeld = false
      if (nowMs >= current.giveUpAtMs) current.isGivenUp = true
      else planProbe(current, nowMs)
    },
    onSuccess(nowMs) {
      const current = look(nowMs)
      failuresInRow = 0
      if (current?.isHeld === true && !current.isProbing) return
      outage = undefined
    },
    probeNow(nowMs) {
      const current = look(nowMs)
      if (current === undefined || current.isHeld || current.isProbing) return
      current.untilMs = Math.min(current.untilMs, nowMs)
    },
    holdUntil(untilMs) {
      outage ??= begin(seenMs ?? untilMs)
      outage.untilMs = Math.max(outage.untilMs, Math.min(untilMs, outage.giveUpAtMs))
      outage.isHeld = true
      outage.isProbing = false
      return outage.untilMs
    },
    state(nowMs) {
      const current = look(nowMs)
      if (current === undefined) return { kind: 'closed' }
      const { sinceMs, untilMs, giveUpAtMs } = current
      if (current.isGivenUp) return { kind: 'givenUp', sinceMs }
      return current.isProbing
        ? { kind: 'probing', sinceMs, giveUpAtMs }
        : { kind: 'open', sinceMs, untilMs, giveUpAtMs }
    },
  }
}
