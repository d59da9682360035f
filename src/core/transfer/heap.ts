// A priority queue of items whose order changes. Adding and taking cost O(log n). An item whose keys changed is added once
// more; its older entry is passed over when it comes first, because its stamp is no longer the newest.

export interface Heap<T> {
  /** Adds an item by its current keys. */
  add(item: T): void
  /** The first item whose entry is up to date. It stays in the heap. */
  first(): T | undefined
}

interface Entry<T> {
  readonly item: T
  readonly stamp: number
  readonly keys: readonly number[]
}

/** `keysOf`: compared one after another, smaller first. `stampOf`: changes whenever the keys do, or when the item is out. */
export function createHeap<T>(keysOf: (item: T) => readonly number[], stampOf: (item: T) => number): Heap<T> {
  const entries: Entry<T>[] = []

  /** Compares without iterators: ten thousand files pass through here, several times each. */
  const isBefore = ({ keys }: Entry<T>, { keys: others }: Entry<T>): boolean => {
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] ?? 0
      const other = others[at] ?? 0
      if (key !== other) return key < other
    }
    return false
  }
  const rise = (from: number): void => {
    for (let at = from; at > 0;) {
      const above = (at - 1) >> 1
      const low = entries[at]
      const high = entries[above]
      if (low === undefined || high === undefined || !isBefore(low, high)) return
      entries[at] = high
      entries[above] = low
      at = above
    }
  }
  const sink = (): void => {
    for (let at = 0; ;) {
      const left = 2 * at + 1
      const one = entries[left]
      const two = entries[left + 1]
      const least = one !== undefined && two !== undefined && isBefore(two, one) ? left + 1 : left
      const high = entries[at]
      const low = entries[least]
      if (high === undefined || low === undefined || !isBefore(low, high)) return
      entries[at] = low
      entries[least] = high
      at = least
    }
  }
  const dropFirst = (): void => {
    const last = entries.pop()
    if (last === undefined || entries.length === 0) return
    entries[0] = last
    sink()
  }

  return {
    add(item) {
      entries.push({ item, stamp: stampOf(item), keys: keysOf(item) })
      rise(entries.length - 1)
    },
    first() {
      for (let entry = entries[0]; entry !== undefined; entry = entries[0]) {
        if (entry.stamp === stampOf(entry.item)) return entry.item
        dropFirst()
      }
      return undefined
    },
  }
}
