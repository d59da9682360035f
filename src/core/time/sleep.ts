// Waiting on the Clock port, ended early by a signal.

import { onAbort } from '../on-abort.ts'
import type { Clock } from '../ports.ts'

/** Resolves after `delayMs`; rejects with the signal's reason when it fires first. Leaves no timer and no listener behind. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => {
      leave()
      resolve()
    }, delayMs)
    const leave = onAbort(signal, () => {
      clock.clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}
