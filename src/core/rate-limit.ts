// Spreads bytes over time, so that they never leave faster than a rate. Pure: times are given. A debt, not a bucket: who
// takes bytes is told how long to wait, and the next one waits for that too, so the order is kept and nobody starves.

import { invalid } from './errors.ts'

export interface RateLimitOptions {
  /** Bytes a second over everything that takes from this limit. Undefined: no limit. */
  readonly bytesPerSecond?: number | undefined
}

export interface RateLimit {
  /**
   * Takes the bytes now and says how many ms to wait before they go; 0: go on. They are taken whatever the answer is:
   * wait once, do not ask again. After an idle time a tenth of a second's worth goes at once, or one take if that is more.
   */
  take(bytes: number, nowMs: number): number
  /** Gives back what was taken and will not go, because its wait was aborted. */
  giveBack(bytes: number): void
  /** Another rate from now on; what is owed already is paid at the new one. Undefined: no limit. */
  setRate(bytesPerSecond: number | undefined, nowMs: number): void
}

const BURST_MS = 100

export function createRateLimit({ bytesPerSecond }: RateLimitOptions): RateLimit {
  let rate = checkRate(bytesPerSecond)
  /** When all that was taken will have gone. */
  let paidAtMs = -Infinity

  return {
    take(bytes, nowMs) {
      if (rate === undefined) return 0
      // What was not used longer ago than the burst is lost; that is what makes it a limit of every second.
      paidAtMs = Math.max(paidAtMs, nowMs - BURST_MS)
      // Fractions are kept, so that rounding does not add up; only the wait is rounded.
      const delayMs = Math.max(0, Math.ceil(paidAtMs - nowMs))
      paidAtMs += (bytes / rate) * 1000
      return delayMs
    },
    giveBack(bytes) {
      if (rate !== undefined) paidAtMs -= (bytes / rate) * 1000
    },
    setRate(nextBytesPerSecond, nowMs) {
      const next = checkRate(nextBytesPerSecond)
      const owedMs = Math.max(0, paidAtMs - nowMs)
      paidAtMs = rate === undefined || next === undefined ? -Infinity : nowMs + (owedMs * rate) / next
      rate = next
    },
  }
}

function checkRate(bytesPerSecond: number | undefined): number | undefined {
  if (bytesPerSecond !== undefined && !(bytesPerSecond >= 1 && Number.isFinite(bytesPerSecond))) {
    invalid(`The rate limit must be at least 1 byte a second, not ${bytesPerSecond}.`, { bytesPerSecond })
  }
  return bytesPerSecond
}
