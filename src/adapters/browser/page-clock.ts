// The Clock of a page: the platform's, which also tells when the platform holds timers back.

import type { Clock } from '../../core/ports.ts'
import { isSeen } from '../web/is-seen.ts'
import { systemClock } from '../web/system-clock.ts'

/** Browsers let the timers of a hidden page fire once a minute, ms. */
const LAG_MS = 61_000

let shownAtMs = -Infinity
/** One for all clocks: the document keeps it, and an Uplink has a clock of its own, though the page may make many of them. */
const onShown = (): void => {
  if (isSeen()) shownAtMs = performance.now()
}

/** Makes the clock. In a worker, whose timers are not held back, it is the system's clock. */
export function pageClock(): Clock {
  const clock = systemClock()
  if (typeof document === 'undefined') return clock
  document.addEventListener('visibilitychange', onShown)
  return {
    ...clock,
    isLagging: () => !isSeen() || clock.monotonicNow() - shownAtMs < LAG_MS,
  }
}
