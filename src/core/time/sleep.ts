// Waiting on the Clock port, ended early by a signal.

import type { Clock } from '../ports.ts'

/** Settles after `delayMs`; rejects with the signal's reason when it fires first. Leaves no timer and no listener. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error)
      return
    }
    const leave = (): void => {
      clock.clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, delayMs)
    signal.addEventListener('abort', leave, { once: true })
  })
}
