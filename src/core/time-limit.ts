// A limit on how long something may take, on the Clock port. A machine that sleeps does not use it up.

import { UploadError } from './errors.ts'
import type { Clock } from './ports.ts'

export interface TimeLimit {
  /** Fires with ERR_UPLOAD_TIMEOUT when the time is up. */
  readonly signal: AbortSignal
  /** Leaves no timer behind. Must be called in the end. */
  end(): void
}

/** A timer that is later than this was late because the machine slept, ms. */
const SUSPEND_LATE_MS = 5_000

/** After a sleep the whole time is given once more: nobody knows how much of it was left. */
export function createTimeLimit(clock: Clock, limitMs: number, message: string): TimeLimit {
  const controller = new AbortController()
  let timer: unknown
  const arm = (): void => {
    const dueMs = clock.monotonicNow() + limitMs
    timer = clock.setTimeout(() => {
      const hasSlept = clock.monotonicNow() - dueMs > SUSPEND_LATE_MS && clock.isLagging?.() !== true
      if (hasSlept) arm()
      else controller.abort(new UploadError('ERR_UPLOAD_TIMEOUT', message))
    }, limitMs)
  }
  arm()
  return { signal: controller.signal, end: () => clock.clearTimeout(timer) }
}
