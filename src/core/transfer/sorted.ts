// A list that is sorted by a number and searched by bisection. It holds what waits for its time.

export interface Sorted<T> {
  add(item: T): void
  keep(isKept: (item: T) => boolean): void
  /** Removes the first item and returns it. */
  shift(): T | undefined
  at(index: number): T | undefined
  /** Number of items whose key is at most this one. */
  countUpTo(key: number): number
}

/** Sorts items by key; those with the same key keep the order in which they came. */
export function createSorted<T>(keyOf: (item: T) => number): Sorted<T> {
  let items: T[] = []

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
    keep(isKept) {
      if (items.length > 0) items = items.filter(isKept)
    },
    shift: () => items.shift(),
    at: (index) => items[index],
    countUpTo,
  }
}
