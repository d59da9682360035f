// A clock for runs on real sockets, with which minutes pass in a moment.

import { systemClock } from '../adapters/web/system-clock.ts'
import type { Clock } from '../core/ports.ts'

/** Waits of this length or more are deadlines, ms. The shortest is the 15 s within which the service is told of an end. */
const DEADLINE_MS = 15_000

/**
 * The system's clock, but every timer that is no deadline fires a thousand times sooner. Timers keep their order. Time itself goes no
 * faster: whoever looks whether the time has come, as the engine does for parts that wait, sets another timer.
 */
export function hastyClock(): Clock {
  const clock = systemClock()
  return {
    ...clock,
    setTimeout: (callback, delayMs) => clock.setTimeout(callback, delayMs >= DEADLINE_MS ? delayMs : delayMs / 1_000),
  }
}
