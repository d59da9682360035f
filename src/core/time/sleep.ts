// Waiting on the Clock port, ended early by a signal or by whoever wakes those that sleep.

import { onAbort } from '../on-abort.ts'
import type { Clock } from '../ports.ts'

/**
 * Resolves after `delayMs`, or when its function in `wakes` is called before; rejects with the signal's reason when it fires first.
 * Leaves no timer, no listener and no function behind.
 */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal, wakes?: Set<() => void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clock.clearTimeout(timer)
      wakes?.delete(wake)
    }
    const wake = (): void => {
      stop()
      leave()
      resolve()
    }
    const timer = clock.setTimeout(wake, delayMs)
    wakes?.add(wake)
    const leave = onAbort(signal, () => {
      stop()
      reject(signal.reason as Error)
    })
  })
}
