// The time that one try may take: a signal that fires with the caller's, or when the time is up.

import type { Clock } from '../core/ports.ts'

export interface Deadline {
  readonly signal: AbortSignal
  /** Leaves no timer and no listener behind. Must be called in the end. */
  end(): void
}

/** `tooLate` is the reason of the signal when the time is up, `signal.reason` when the caller ends it before. */
export function createDeadline(clock: Clock, limitMs: number, tooLate: Error, signal: AbortSignal): Deadline {
  const controller = new AbortController()
  const follow = (): void => controller.abort(signal.reason)
  if (signal.aborted) follow()
  signal.addEventListener('abort', follow, { once: true })
  const timer = clock.setTimeout(() => controller.abort(tooLate), limitMs)
  return {
    signal: controller.signal,
    end() {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', follow)
    },
  }
}
