// Time and chance.

/** Time, in milliseconds throughout. Shaped so that a simulated clock can drive engine and machines together. */
export interface Clock {
  wallNow(): number
  monotonicNow(): number
  setTimeout(callback: () => void, delayMs: number): unknown
  clearTimeout(timer: unknown): void
  /** Minutes to add to UTC for the local time of day at this wall time; for timetables. Absent: 0. */
  utcOffsetMinutes?(wallMs: number): number
  /** True while the platform holds timers back, as browsers do in hidden pages: a late timer is then no sign of sleep. */
  isLagging?(): boolean
}

/** A number in [0, 1). */
export type Random = () => number
