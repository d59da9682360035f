// A limit on how long something may take, on the Clock port. A sleep of the machine does not use it up.

import { UploadError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import { hasSlept } from './suspend.ts'

export interface TimeLimit {
  /** Fires with ERR_UPLOAD_TIMEOUT when the time is up. */
  readonly signal: AbortSignal
  /** Gives this much time from now on, ms, instead of what was left. */
  restart(limitMs: number): void
  /** Removes the timer. Must be called in the end. */
  end(): void
}

/** After a sleep, the whole time is given once more: nobody knows how much of it was left. */
export function createTimeLimit(
  clock: Clock,
  limitMs: number,
  message: string,
  details: UploadError['details'] = {},
): TimeLimit {
  const controller = new AbortController()
  let timer: unknown
  const end = (): void => clock.clearTimeout(timer)
  const arm = (): void => {
    end()
    const dueMs = clock.monotonicNow() + limitMs
    timer = clock.setTimeout(() => {
      if (hasSlept(clock, dueMs)) arm()
      else controller.abort(new UploadError('ERR_UPLOAD_TIMEOUT', message, { details }))
    }, limitMs)
  }
  arm()
  const restart = (ms: number): void => {
    limitMs = ms
    arm()
  }
  return { signal: controller.signal, restart, end }
}
