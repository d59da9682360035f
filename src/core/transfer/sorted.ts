// A list that is sorted by a number and searched by bisection. It holds what waits for its time.

export interface Sorted<T> {
  add(item: T): void
  /** Removes the first item of which this is true, if the key of any is at most this one, and returns it. */
  take(upTo: number, isTaken: (item: T) => boolean): T | undefined
  has(isSought: (item: T) => boolean): boolean
  /** The first item whose key is larger. */
  after(key: number): T | undefined
  /** Number of items whose key is at most this one. */
  countUpTo(key: number): number
}

/** Sorts items by key; those with the same key keep the order in which they came. */
export function createSorted<T>(keyOf: (item: T) => number): Sorted<T> {
  const items: T[] = []

  const countUpTo = (key: number): number => {
    let low = 0
    let high = items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const item = items[middle]
      if (item !== undefined && keyOf(item) <= key) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    add(item) {
      items.splice(countUpTo(keyOf(item)), 0, item)
    },
    take(upTo, isTaken) {
      const at = countUpTo(upTo) > 0 ? items.findIndex(isTaken) : -1
      return at < 0 ? undefined : items.splice(at, 1)[0]
    },
    has: (isSought) => items.some(isSought),
    after: (key) => items[countUpTo(key)],
    countUpTo,
  }
}
