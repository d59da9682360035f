// Items in the order of a number, found by halving: for what waits for its time.

export interface Sorted<T> {
  add(item: T): void
  keep(isKept: (item: T) => boolean): void
  /** Takes the first one out. */
  shift(): T | undefined
  at(index: number): T | undefined
  /** How many have a key up to this one. */
  countUpTo(key: number): number
}

/** Items by key, those of one key by arrival. */
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
