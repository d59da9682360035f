// Waits for what cannot be aborted itself, such as a function of the host.

import { onAbort } from './on-abort.ts'

/**
 * Settles as the promise does, or with what is none; rejects with the signal's reason when that fires first. Leaves no listener
 * behind.
 */
export function unlessAborted<T>(promise: Promise<T> | T, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = onAbort(signal, () => reject(signal.reason as Error))
    void Promise.resolve(promise).then(resolve, reject).then(leave)
  })
}
