// Time and chance.

/** Time, in milliseconds throughout. Shaped so that a simulated clock can drive engine and machines together. */
export interface Clock {
  /** The time of day, ms since 1970. May jump. */
  wallNow(): number
  /** Time since any fixed moment. Never falls. */
  monotonicNow(): number
  /** Calls back once, never before it has returned. Returns what `clearTimeout` takes. */
  setTimeout(callback: () => void, delayMs: number): unknown
  /** Does nothing for a timer that is over, and for undefined. */
  clearTimeout(timer: unknown): void
  /** Minutes to add to UTC for the local time of day at this wall time; for timetables. Absent: 0. */
  utcOffsetMinutes?(wallMs: number): number
  /** True while the platform holds timers back, as browsers do in hidden pages: a late timer is then no sign of sleep. */
  isLagging?(): boolean
}

/** A number in [0, 1). */
export type Random = () => number
