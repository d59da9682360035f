// How fast an upload may go without being felt: as fast as it can without a queue on the line. Pure: it learns from delays and
// answers with a rate. In spirit LEDBAT (RFC 6817): the excess of a delay over the least one of the last minutes is queueing.
// While there is none, the rate grows; when there is some, it falls below what the line carries until the queue is gone.
//
// A queue that stays although we hold back is somebody else's. The rate is then halved, and halved again, down to an eighth of
// what the line has carried. All rates are in bytes per second.

import { createLeast } from './least.ts'

export interface BackgroundSample {
  /** On a clock that does not jump back, ms. */
  readonly atMs: number
  /** How long the line took to answer something small, ms: its round trip and its queue. */
  readonly delayMs: number
  /** Bytes handed to the network since the last sample. */
  readonly bytesSince: number
}

export interface Background {
  /** How fast all parts together may go now. */
  bytesPerSecond(): number
  onSample(sample: BackgroundSample): void
}

const FIRST_RATE = 256 * 1024
const LEAST_RATE = 64 * 1024
/** The queueing below which the rate grows, and from which it falls, ms: well below the 50 that people begin to feel. */
const GROW_BELOW_MS = 10
const FALL_FROM_MS = 25
/** What the rate falls to, as a share of what the line carries, and the time in which a queue should be gone, ms. */
const SHARE = 0.9
const DRAIN_MS = 1_000
/** Growth per sample while nothing is known of the line, or little of it is used. */
const FAST_GROWTH = 1.5
/** Growth per second near what the line carries. */
const SLOW_GROWTH = 0.05
/** The queue that one step of growth may build before the next sample is seen, ms. */
const STEP_QUEUE_MS = 30
/** Rates are measured over at least this time, ms: next to nothing goes between answers that come together. */
const SHORTEST_MS = 100
/** The least delay of this many samples counts: one late answer is no queue. */
const RECENT = 2
/** The least delay is that of the last ten minutes, ms: routes change. */
const BASE_MS = 600_000

export function createBackground(): Background {
  const base = createLeast(BASE_MS)
  const recent: number[] = []
  let rate = FIRST_RATE
  /** What the line carries, as far as that is known: the most that went without a queue, or what went while ours stood. */
  let carried = 0
  let isKnown = false
  /** What it carried before it carried much less than we sent, which may have been an outage. */
  let carriedBefore = 0
  /** Since when bytes are counted, and how many went. */
  let sinceMs: number | undefined
  let bytes = 0
  /** A queue that we have answered has until then to go; after that the rate is `resumeRate`. */
  let drain: { readonly untilMs: number; readonly resumeRate: number } | undefined
  /** The queue was still there at the end of a drain. */
  let isStubborn = false

  const floor = (): number => Math.max(LEAST_RATE, carried / 8)
  const grow = (wentRate: number, passedMs: number): void => {
    isStubborn = false
    carried = Math.max(carried, wentRate)
    // A rate that is not used must not grow: it would say nothing about the line.
    if (wentRate < rate * 0.7) return
    const isFarBelow = !isKnown || rate < Math.max(carried, carriedBefore) / 2
    const step = Math.min((SLOW_GROWTH * passedMs) / 1000, STEP_QUEUE_MS / passedMs)
    rate *= isFarBelow ? FAST_GROWTH : 1 + step
  }
  const fall = (queueMs: number, wentRate: number, nowMs: number): void => {
    isKnown = true
    // Halved, so that a line that has become slower is not overrun again and again.
    if (!isStubborn) carriedBefore = wentRate < rate * 0.7 ? Math.max(carried, carriedBefore / 2) : 0
    // The first time, the queue is ours. And whoever's it is, the line carries no more than this.
    if (!isStubborn || wentRate < rate * 0.7) carried = Math.min(carried, wentRate)
    // The rate while a queue stands is what the line carries, unless we wanted to send less.
    const resumeRate = Math.max(floor(), isStubborn ? rate / 2 : Math.min(rate, wentRate) * SHARE)
    isStubborn = true
    rate = Math.max(LEAST_RATE, resumeRate * (1 - Math.min(0.5, queueMs / DRAIN_MS)))
    drain = { untilMs: nowMs + DRAIN_MS + queueMs, resumeRate }
  }

  return {
    bytesPerSecond: () => rate,
    onSample({ atMs, delayMs, bytesSince }) {
      base.add(delayMs, atMs)
      recent.push(delayMs)
      if (recent.length > RECENT) recent.shift()
      // In what time the first bytes went is unknown.
      bytes = sinceMs === undefined ? 0 : bytes + bytesSince
      sinceMs ??= atMs
      const passedMs = atMs - sinceMs
      if (passedMs < SHORTEST_MS) return
      const wentRate = (bytes / passedMs) * 1000
      sinceMs = atMs
      bytes = 0
      const queueMs = Math.min(...recent) - base.least(atMs)
      if (drain !== undefined) {
        if (atMs < drain.untilMs) return
        rate = drain.resumeRate
        drain = undefined
      }
      if (queueMs >= FALL_FROM_MS) fall(queueMs, wentRate, atMs)
      else if (queueMs < GROW_BELOW_MS) grow(wentRate, passedMs)
    },
  }
}
