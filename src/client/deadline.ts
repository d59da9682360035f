// Signals that fire with others, or when a time is up.

import { onAbort } from '../core/on-abort.ts'
import type { Clock } from '../core/ports.ts'

export interface Deadline {
  readonly signal: AbortSignal
  /** Leaves no timer and no listener behind. Must be called in the end. */
  end(): void
}

/** `tooLate` is the reason of the signal when the time is up, `signal.reason` when the caller ends it before. */
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

/** Aborted with the first of the signals that fires, for its reason, until it leaves them; then no listener is left. */
export function follow(signals: readonly (AbortSignal | undefined)[]): {
  readonly controller: AbortController
  leave(): void
} {
  const controller = new AbortController()
  const leaves = signals.map((signal) => signal && onAbort(signal, () => controller.abort(signal.reason)))
  return { controller, leave: () => leaves.forEach((leave) => leave?.()) }
}
