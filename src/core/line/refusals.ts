// What refusals say of the number of parts: pure. A single one says that its part must wait, and nothing of the others; a large
// share of all answers says that there are too many. Then fewer go by that share, as DCTCP does it, at most once a round trip.
// The way back begins slowly and doubles its steps, as CUBIC does, up to the number that drew the refusals.

import type { ConcurrencySample } from './concurrency-sample.ts'

export interface Refusals {
  /** What happened since the last sample, with `limit` parts. Returns the limit while it is for refusals to decide, else undefined. */
  next(sample: ConcurrencySample, limit: number): number | undefined
}

/** Answers are judged together for so long at least. */
const WINDOW_MS = 1_000
/** Refusals that a window may hold: one, and this share of its answers. */
const BEARABLE_SHARE = 0.1
/** Attempts that got no answer, in a window: more than this share of the limit, and more than one, are as if all were refused. */
const MISSING_SHARE = 0.25
/** Answers to what was in flight before a reduction say nothing of what is now; they are waited for no longer than this. */
const STALE_MS = 3_000
/** Of the limit in flight: windows with fewer say nothing about it. */
const USED_SHARE = 0.75
/** Where the same number is refused again and again, it is tried after so many windows at last. */
const MOST_PATIENCE = 128

export function createRefusals(min: number): Refusals {
  let window = { sinceMs: -Infinity, limit: min, done: 0, refused: 0, missing: 0 }
  /** Answers to come of those that were in flight before the last reduction. */
  let stale = 0
  /** The limit that was not refused last. */
  let safe = min
  /** After a reduction: where it went down to, what drew it, windows without another one, and those before the next try. */
  let base = min
  let peak: number | undefined
  let calm = 0
  let patience = 1

  const open = (sinceMs: number, limit: number): void => {
    window = { sinceMs, limit, done: 0, refused: 0, missing: 0 }
  }
  const reduce = (share: number, limit: number): number => {
    const fewer = Math.max(min, Math.floor(limit * (1 - share / 2)))
    const isGrown = limit > safe
    if (!isGrown) patience = 1
    else if (calm > 0 && peak !== undefined) patience = Math.min(patience * 2, MOST_PATIENCE)
    // What drew refusals is the end of the way back; when what was safe draws them, it was not the number.
    if (isGrown || peak === undefined) peak = limit
    base = isGrown ? Math.max(safe, fewer) : fewer
    safe = Math.min(safe, base)
    calm = 0
    return base
  }
  const recover = (limit: number): number | undefined => {
    safe = limit
    if (peak === undefined) return undefined
    calm += 1
    if (limit < peak) return Math.min(peak, base + Math.floor(2 ** (calm - patience)))
    peak = undefined
    patience = 1
    return undefined
  }

  return {
    next({ atMs, inFlight, partsDone, throttles, failures }, limit) {
      const waiting = (): number | undefined => (peak === undefined ? undefined : limit)
      const isStale = stale > 0 && atMs - window.sinceMs < STALE_MS
      stale -= partsDone + throttles + failures
      if (isStale) {
        if (stale <= 0) open(atMs, limit)
        return waiting()
      }
      stale = 0
      const isUnused = inFlight < limit * USED_SHARE && throttles + failures === 0
      if (isUnused || limit < window.limit) open(atMs, limit)
      window.done += partsDone
      window.refused += throttles
      window.missing += failures
      if (atMs - window.sinceMs < WINDOW_MS) return waiting()
      const { done, refused, missing } = window
      const answers = done + refused
      const isMissing = missing > Math.max(1, limit * MISSING_SHARE)
      const isRefused = refused > 1 + answers * BEARABLE_SHARE
      open(atMs, limit)
      if (!isMissing && !isRefused) return recover(Math.min(window.limit, limit))
      // Where nothing was taken it may be no matter of numbers: there is time to see.
      stale = done === 0 ? Infinity : inFlight
      return reduce(isMissing ? 1 : refused / answers, limit)
    },
  }
}
