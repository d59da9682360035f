// The Clock of the platform, in Node and browsers alike.

import type { Clock } from '../../core/ports.ts'

/** The longest delay that platforms support. A longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

interface SystemTimer {
  id: ReturnType<typeof setTimeout> | undefined
}

/**
 * Wall time, monotonic time and timers of the platform. A delay is any number of milliseconds, Infinity included; a
 * negative or missing one counts as 0. A timer keeps a Node process alive, as it should for work that somebody waits
 * for.
 */
export function systemClock(): Clock {
  return {
    wallNow: () => Date.now(),
    utcOffsetMinutes: (wallMs) => -new Date(wallMs).getTimezoneOffset(),
    monotonicNow: () => performance.now(),
    setTimeout(callback, delayMs) {
      const timer: SystemTimer = { id: undefined }
      arm(timer, callback, delayMs > 0 ? delayMs : 0)
      return timer
    },
    clearTimeout(timer) {
      // Anything that is not ours, or was never set, has no id.
      clearTimeout((timer as Partial<SystemTimer> | null | undefined)?.id)
    },
  }
}

/** Sets the timer, in steps if the delay is longer than the platform's longest. */
function arm(timer: SystemTimer, callback: () => void, delayMs: number): void {
  timer.id =
    delayMs <= LONGEST_DELAY_MS
      ? setTimeout(callback, delayMs)
      : setTimeout(() => arm(timer, callback, delayMs - LONGEST_DELAY_MS), LONGEST_DELAY_MS)
}
