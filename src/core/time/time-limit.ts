// A limit on how long something may take, on the Clock port. A sleep of the machine does not use it up.

import { onAbort } from '../on-abort.ts'
import type { Clock } from '../ports.ts'
import { hasSlept } from './suspend.ts'

export interface TimeLimit {
  /** Fires when the time is up, or before that with the outer signal and its reason. */
  readonly signal: AbortSignal
  /** Gives this much time from now on, ms, instead of what was left; after a sleep the same. */
  restart(limitMs: number): void
  /** Removes the timer and the listener. Must be called in the end. */
  end(): void
}

/**
 * After a sleep, the whole time is given once more: nobody knows how much of it was left, and what was waited for may have come
 * meanwhile, unread. `againMs`: how much is given then instead. `tooLate` gives the reason with which the signal then fires.
 */
export function createTimeLimit(
  clock: Clock,
  limitMs: number,
  tooLate: () => Error,
  outer?: AbortSignal,
  againMs?: number,
): TimeLimit {
  const controller = new AbortController()
  let timer: unknown
  const stop = (): void => clock.clearTimeout(timer)
  const leave =
    outer &&
    onAbort(outer, () => {
      // What is told to end may take its time, and whoever began it may be gone by then.
      stop()
      controller.abort(outer.reason)
    })
  const restart = (ms: number, sleptMs = ms): void => {
    stop()
    if (controller.signal.aborted) return
    const dueMs = clock.monotonicNow() + ms
    timer = clock.setTimeout(() => {
      if (hasSlept(clock, dueMs)) restart(sleptMs)
      else controller.abort(tooLate())
    }, ms)
  }
  const end = (): void => {
    stop()
    leave?.()
  }
  restart(limitMs, againMs)
  return { signal: controller.signal, restart, end }
}
