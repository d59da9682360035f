// A token bucket per key: a minute's calls at once, then as many as trickle back. Each copy of the service keeps its own in memory,
// of bounded size however many keys come.

const MINUTE_MS = 60_000
/** Beyond this number the least recent caller is forgotten, and starts again with a full bucket. */
const MAX_KEYS = 10_000

export interface RateLimit {
  /** Takes one call from the key's bucket. Returns 0, or if the bucket is empty, how long until it has a call, ms. */
  take(key: string): number
  /** How long until the key's bucket has a call, ms. Takes none. */
  waitOf(key: string): number
}

interface Bucket {
  calls: number
  at: number
}

/** `perMinute` 0 means no limit. `now` is wall time, ms. A clock that is set back adds and takes nothing. */
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
      // Inserted anew, so that the first entry of the map is always the least recent caller.
      buckets.delete(key)
      buckets.set(key, bucket)
      if (buckets.size > MAX_KEYS) buckets.delete(buckets.keys().next().value ?? key)
      return wait
    },
    waitOf: (key) => waitIn(filled(key)),
  }
}
