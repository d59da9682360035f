// Signals that fire with others, or when time is up.

import { onAbort } from '../core/on-abort.ts'
import type { Clock } from '../core/ports.ts'

export interface Deadline {
  readonly signal: AbortSignal
  /** Removes the timer and the listener. Must be called in the end. */
  end(): void
}

/** Makes a signal that aborts with `tooLate` after `limitMs`, or before that with `signal` and its reason. */
export function createDeadline(clock: Clock, limitMs: number, tooLate: Error, signal: AbortSignal): Deadline {
  const { controller, leave } = follow([signal])
  const timer = clock.setTimeout(() => controller.abort(tooLate), limitMs)
  return {
    signal: controller.signal,
    end() {
      clock.clearTimeout(timer)
      leave()
    },
  }
}

/**
 * Makes a controller that aborts with the first of the signals to fire, for the same reason. `leave` removes all
 * listeners.
 */
export function follow(signals: readonly (AbortSignal | undefined)[]): {
  readonly controller: AbortController
  leave(): void
} {
  const controller = new AbortController()
  const leaves = signals.map((signal) => signal && onAbort(signal, () => controller.abort(signal.reason)))
  return { controller, leave: () => leaves.forEach((leave) => leave?.()) }
}
