// Notices that something hangs, such as a read from a drive that is gone. It may still come to its end.

import type { Clock } from '../ports.ts'

/** What takes longer than this hangs, ms. */
const HANGS_AFTER_MS = 5_000

/** Returns the work. Calls `tell` with true once it hangs, and then with false when it has ended after all. */
export function tellHang<T>(clock: Clock, work: Promise<T>, tell: (isHung: boolean) => void): Promise<T> {
  let isHung = false
  const timer = clock.setTimeout(() => tell((isHung = true)), HANGS_AFTER_MS)
  const end = (): void => {
    clock.clearTimeout(timer)
    if (isHung) tell(false)
  }
  work.then(end, end)
  return work
}
