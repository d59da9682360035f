// Frees the slots of attempts that do not use the line: of those whose bytes were taken, while the rest is still processed
// (whether the source is what it was, and what to write down), and of those whose source hangs, perhaps for ever.

import type { Attempt } from '../attempt/attempt.ts'

/** How many answered attempts may be processed without a slot; beyond that, each keeps its slot to its end. */
const MAX_SETTLING = 64

/**
 * Begins an attempt, which never rejects and calls `onFree` when it no longer needs its slot. Resolves when the slot is free, with
 * whether the storage took the part, as far as that is known. Undefined when there is nothing to begin.
 */
export type Settling = (
  begin: (onFree: Attempt['onFree']) => Promise<boolean | undefined> | undefined,
) => Promise<boolean | undefined> | undefined

export function createSettling(): Settling {
  let count = 0
  return (begin) => {
    let free: (isTaken?: boolean) => void = () => undefined
    const freed = new Promise<boolean | undefined>((resolve) => (free = resolve))
    let isCounted = false
    const ending = begin((isAnswered) => {
      if (isAnswered) {
        if (count === MAX_SETTLING) return
        isCounted = true
        count += 1
      }
      free(isAnswered)
    })
    void ending?.then((isTaken) => {
      if (isCounted) count -= 1
      free(isTaken)
    })
    return ending && freed
  }
}
