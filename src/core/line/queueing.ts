// Whether a queue stands on the line, judged by round trips: the excess of one over the least one is waiting. Pure. A standing
// queue says that the line carries all it can, whoever fills it; more connections would only take from others.

import { createLeast } from './least.ts'

/** `empty`: most of the newest round trips did not wait. On a line that could carry more, that is so all the time. */
export type QueueState = 'empty' | 'standing' | 'unknown'

export interface Queueing {
  add(roundTripMs: number, atMs: number): void
  /** `unknown` when there are too few round trips, or none of late. */
  state(nowMs: number): QueueState
  /** Whether at least one of the newest round trips did not wait. False when there are too few, or none of late. */
  isEmptyAtTimes(nowMs: number): boolean
  /** The least round trip of the last ten minutes, ms; undefined before the first. */
  leastMs(): number | undefined
}

/** What a round trip may wait without a queue: for packets that happen to be under way, and for a busy machine. */
const HARMLESS_MS = 5
const HARMLESS_SHARE = 1 / 16
/**
 * RECENT round trips are looked at, of which QUICK must not have waited. One that waited may be a lost packet rather than a queue; one
 * that was quick may only show that others, whose queue was there before us, have just lost a packet.
 */
const RECENT = 3
const QUICK = 2
/** Older round trips say nothing about now, ms. */
const FRESH_MS = 5_000
/**
 * The least round trip is that of the last ten minutes, ms: routes change. A shorter memory would take a standing queue for the
 * line itself as soon as nothing else is remembered.
 */
const LEAST_MS = 600_000

export function createQueueing(): Queueing {
  const recent: { readonly roundTripMs: number; readonly atMs: number }[] = []
  const least = createLeast(LEAST_MS)
  let newestMs: number | undefined
  const count = (nowMs: number): { quick: number; known: number } => {
    const fresh = recent.filter((one) => one.atMs > nowMs - FRESH_MS)
    const leastMs = least.least(nowMs)
    const harmlessMs = leastMs + Math.max(HARMLESS_MS, leastMs * HARMLESS_SHARE)
    return { quick: fresh.filter((one) => one.roundTripMs <= harmlessMs).length, known: fresh.length }
  }

  return {
    add(roundTripMs, atMs) {
      newestMs = atMs
      least.add(roundTripMs, atMs)
      recent.push({ roundTripMs, atMs })
      if (recent.length > RECENT) recent.shift()
    },
    state(nowMs) {
      const { quick, known } = count(nowMs)
      if (quick >= QUICK) return 'empty'
      return known < RECENT ? 'unknown' : 'standing'
    },
    isEmptyAtTimes(nowMs) {
      const { quick, known } = count(nowMs)
      return known >= QUICK && quick > 0
    },
    leastMs: () => (newestMs === undefined ? undefined : least.least(newestMs)),
  }
}
