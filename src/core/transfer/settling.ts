// Frees the slots of attempts whose bytes were taken while the rest is still processed: whether the source is what it was, and
// what to write down. That needs no slot, and the line should not stand idle meanwhile.

/** How many attempts may be processed without a slot; beyond that, each keeps its slot to its end. */
const MAX_SETTLING = 64

/**
 * Begins an attempt, which never rejects and calls `onFree` when it no longer needs its slot. Resolves when the slot is free.
 * Undefined when there is nothing to begin.
 */
export type Settling = (begin: (onFree: () => void) => Promise<unknown> | undefined) => Promise<undefined> | undefined

export function createSettling(): Settling {
  let count = 0
  return (begin) => {
    let free: (value?: undefined) => void = () => undefined
    const freed = new Promise<undefined>((resolve) => (free = resolve))
    let isCounted = false
    const ending = begin(() => {
      if (isCounted || count === MAX_SETTLING) return
      isCounted = true
      count += 1
      free()
    })
    void ending?.then(() => {
      if (isCounted) count -= 1
      free()
    })
    return ending && freed
  }
}
