// A sleep of the machine, told by a timer that fires far too late.

import type { Clock } from '../ports.ts'

/** A timer that is later than this was late because the machine slept, ms. */
const SUSPEND_LATE_MS = 5_000

/**
 * True in a timer that was due then, by the monotonic clock, when the machine slept meanwhile. A page that the platform
 * holds back gets its timers as late, and tells nothing.
 */
export function hasSlept(clock: Clock, dueAtMs: number): boolean {
  return clock.monotonicNow() - dueAtMs > SUSPEND_LATE_MS && clock.isLagging?.() !== true
}
