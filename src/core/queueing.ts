// Whether the line's queue is full, from round trips: what a round trip takes longer than the least one is waiting. Pure.

export interface Queueing {
  add(roundTripMs: number, atMs: number): void
  /** `full` when the newest round trips all waited long; `unknown` when there are too few of them. */
  state(nowMs: number): 'full' | 'short' | 'unknown'
}

/** A queue that nobody minds, whatever the line: jitter of radio, a busy machine. */
const HARMLESS_MS = 30
/** So many in a row must have waited: a packet that was lost is no queue. */
const RECENT = 2
/** Older ones say nothing about now. */
const FRESH_MS = 5_000
/** The least one is that of so many: routes change. */
const KEPT = 64

export function createQueueing(): Queueing {
  const known: { readonly roundTripMs: number; readonly atMs: number }[] = []

  return {
    add(roundTripMs, atMs) {
      known.push({ roundTripMs, atMs })
      if (known.length > KEPT) known.shift()
    },
    state(nowMs) {
      const least = Math.min(...known.map((one) => one.roundTripMs))
      const recent = known.slice(-RECENT).filter((one) => one.atMs > nowMs - FRESH_MS)
      if (recent.length < RECENT) return 'unknown'
      // A short queue is what TCP needs to go at full speed.
      return recent.every((one) => one.roundTripMs > 1.5 * least + HARMLESS_MS) ? 'full' : 'short'
    },
  }
}
