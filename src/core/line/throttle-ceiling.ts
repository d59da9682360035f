// What a storage puts up with: after it said that it is too much, half as many parts, and for a long time no more than three
// quarters of what drew the complaint. Pure.

export interface ThrottleCeiling {
  /** The most parts that may be tried now. */
  most(): number
  /** The storage said that `limit` is too much: what to go down to; undefined for an answer to what was in flight before the last halving. */
  complain(limit: number, nowMs: number): number | undefined
  /** A long time without a complaint: storages grow too. */
  raise(): void
}

/** Answers to what was in flight before a halving do not halve again. */
const HALVING_MS = 3_000
const SAFE_SHARE = 0.75

export function createThrottleCeiling(min: number, max: number): ThrottleCeiling {
  let ceiling = max
  let halvedAtMs = -Infinity

  return {
    most: () => ceiling,
    complain(limit, nowMs) {
      if (nowMs - halvedAtMs < HALVING_MS) return undefined
      halvedAtMs = nowMs
      const half = Math.max(min, Math.floor(limit / 2))
      ceiling = Math.max(half, Math.floor(limit * SAFE_SHARE))
      return half
    },
    raise() {
      ceiling = Math.min(max, ceiling + Math.ceil(ceiling / 8))
    },
  }
}
