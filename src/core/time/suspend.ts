// Notices that the machine slept, by a timer that fires far too late.

import type { Clock } from '../ports.ts'

/** A timer that is later than this means that the machine slept, ms. */
const SUSPEND_LATE_MS = 5_000

/**
 * Asked in a timer that was due at `dueAtMs`, monotonic ms: whether the machine slept meanwhile. Where the platform holds a
 * page back, timers are just as late, and that says nothing.
 */
export function hasSlept(clock: Clock, dueAtMs: number): boolean {
  return clock.monotonicNow() - dueAtMs > SUSPEND_LATE_MS && clock.isLagging?.() !== true
}
