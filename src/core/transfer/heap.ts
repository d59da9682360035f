// A priority queue of items whose order changes. Adding and taking cost O(log n). An item whose keys changed is added once
// more; its older entry is passed over when it comes first, because its stamp is no longer the newest.

import { known } from '../errors.ts'

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

  /**
   * Whether the entry at one place comes before that at another; false where there is none. Compares without iterators: ten
   * thousand files pass through here, several times each.
   */
  const isBefore = (one: number, other: number): boolean => {
    const keys = entries[one]?.keys
    const others = entries[other]?.keys
    if (keys === undefined || others === undefined) return false
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] ?? 0
      const otherKey = others[at] ?? 0
      if (key !== otherKey) return key < otherKey
    }
    return false
  }
  const swap = (one: number, other: number): void => {
    const entry = known(entries[one])
    entries[one] = known(entries[other])
    entries[other] = entry
  }
  const rise = (at: number): void => {
    const above = (at - 1) >> 1
    if (!isBefore(at, above)) return
    swap(at, above)
    rise(above)
  }
  const sink = (at: number): void => {
    const left = 2 * at + 1
    const least = isBefore(left + 1, left) ? left + 1 : left
    if (!isBefore(least, at)) return
    swap(at, least)
    sink(least)
  }
  const dropFirst = (): void => {
    const last = entries.pop()
    if (last === undefined || entries.length === 0) return
    entries[0] = last
    sink(0)
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
