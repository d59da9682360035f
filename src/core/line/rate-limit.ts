// Spreads bytes over time, so that they never leave faster than a rate. Pure: times are given. It keeps a debt, not a bucket of
// tokens: bytes may go when what went before is paid for, and whatever goes is owed. Who waits for whom is pace's business.

export interface RateLimit {
  /** How long until the next bytes may go, whole ms; 0: now. */
  waitMs(nowMs: number): number
  /** This many bytes go now. */
  spend(bytes: number, nowMs: number): void
  /** Bytes that may go at once: a hundredth of a second's worth, at least 1 KiB; Infinity without a limit. */
  pieceBytes(): number
  /** Sets another rate from now on, bytes per second; what is already owed is paid at the new one. Undefined: no limit. */
  setRate(bytesPerSecond: number | undefined, nowMs: number): void
}

/** How much unused time may be caught up on, ms: timers are late. Together with a piece it stays below a tenth of a second. */
const CATCH_UP_MS = 50
const PIECE_MS = 10
const LEAST_PIECE_BYTES = 1024

/** Makes one that does not limit yet. */
export function createRateLimit(): RateLimit {
  let rate: number | undefined
  /** When everything that went will have been paid for. -Infinity without a rate. */
  let paidAtMs = -Infinity

  return {
    // Fractions of the debt are kept, so that rounding does not add up; only the wait is rounded.
    waitMs: (nowMs) => Math.max(0, Math.ceil(paidAtMs - nowMs)),
    spend(bytes, nowMs) {
      if (rate !== undefined) paidAtMs = Math.max(paidAtMs, nowMs - CATCH_UP_MS) + (bytes / rate) * 1000
    },
    pieceBytes: () =>
      rate === undefined ? Infinity : Math.max(LEAST_PIECE_BYTES, Math.floor((rate * PIECE_MS) / 1000)),
    setRate(next, nowMs) {
      paidAtMs = rate === undefined || next === undefined ? -Infinity : nowMs + ((paidAtMs - nowMs) * rate) / next
      rate = next
    },
  }
}
