// Waits for what was told to end, but not for ever.

import { onAbort } from '../on-abort.ts'
import type { Clock } from '../ports.ts'

/** How long what was told to end may take, ms. */
const LEFT_AFTER_MS = 15_000
/** One for all, because to make one costs the reason's stack. */
const FIRED = /* @__PURE__ */ AbortSignal.abort()

/** Settles as the work does. If it does not end within 15 s of the signal, it is left, and this settles with what `late` returns. */
export function unlessLate<T>(
  clock: Clock,
  signal: AbortSignal,
  work: Promise<T>,
  late: () => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: unknown
    const unhear = onAbort(signal, () => {
      timer = clock.setTimeout(() => resolve(late()), LEFT_AFTER_MS)
    })
    void work.then(resolve, reject).then(() => {
      unhear()
      clock.clearTimeout(timer)
    })
  })
}

/** Waits, for 15 s at most, for what ends and may never do so, such as a close of the host's. Settles as it does. */
export function giveTime(clock: Clock, ending: Promise<unknown>): Promise<unknown> {
  return unlessLate(clock, FIRED, ending, () => undefined)
}
