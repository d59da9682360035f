// Waits for what was told to end, but not for ever.

import { onAbort } from '../on-abort.ts'
import type { Clock } from '../ports.ts'

/** Settles as the work does. If it does not end within `limitMs` of the signal, resolves with what `late` returns. */
export function unlessLate<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  work: Promise<T>,
  late: () => T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: unknown
    const unhear = onAbort(signal, () => {
      timer = clock.setTimeout(() => resolve(late()), limitMs)
    })
    void work.then(resolve, reject).then(() => {
      unhear()
      clock.clearTimeout(timer)
    })
  })
}
