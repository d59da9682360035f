// Attempts whose bytes were taken and that are still looked into: whether the source is what it was, and what to write down. They
// need no slot for that, and the line should not stand idle meanwhile.

/** How many may be looked into without a slot; with more, each keeps its own to its end. */
const MAX_SETTLING = 64

/**
 * Begins an attempt, which says itself when it needs its slot no more; it never rejects. Settles when the slot is free.
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
