// A token bucket for each of many keys: so many calls within a minute, then as many as trickle back. It is one copy's own
// and lives in its memory, whose bound a flood of keys cannot move.

const MINUTE_MS = 60_000
/** Beyond, whoever has not called for the longest time is forgotten, and has a full bucket again. */
const MAX_KEYS = 10_000

export interface RateLimit {
  /** Takes one call from the key's bucket: 0 when there was one, else how long until there is, ms. */
  take(key: string): number
  /** How long until the key's bucket has a call again, ms; takes none. */
  waitOf(key: string): number
}

interface Bucket {
  calls: number
  at: number
}

/** `perMinute` 0 is no limit. `now` is wall time, ms; when it is set back the buckets stand still for as long. */
export function createRateLimit(perMinute: number, now: () => number): RateLimit {
  if (perMinute === 0) return { take: () => 0, waitOf: () => 0 }
  const buckets = new Map<string, Bucket>()
  const filled = (key: string): Bucket => {
    const at = now()
    const bucket = buckets.get(key) ?? { calls: perMinute, at }
    bucket.calls = Math.min(perMinute, bucket.calls + (Math.max(0, at - bucket.at) * perMinute) / MINUTE_MS)
    bucket.at = at
    return bucket
  }
  const waitIn = ({ calls }: Bucket) => (calls >= 1 ? 0 : ((1 - calls) * MINUTE_MS) / perMinute)
  return {
    take(key) {
      const bucket = filled(key)
      const wait = waitIn(bucket)
      if (wait === 0) bucket.calls -= 1
      // Set anew, so that the first of the map is the one that has not called for the longest time.
      buckets.delete(key)
      buckets.set(key, bucket)
      if (buckets.size > MAX_KEYS) buckets.delete(buckets.keys().next().value ?? key)
      return wait
    },
    waitOf: (key) => (buckets.has(key) ? waitIn(filled(key)) : 0),
  }
}
