// Which part goes next. Asked only when a slot frees, so that the choice is made with all that is known by then.
// Deterministic and without time of its own: the caller says what time it is. Parts that were put back because they
// must wait hold no slot and no window. Taking and putting back cost O(log n) at ten thousand parts.

import type { Unit } from './ports.ts'

/** A unit to send and how often it has been tried before. */
export interface Turn {
  readonly unit: Unit
  /** Counts from 1. */
  readonly attempt: number
  /** Attempts among them that reached the host. */
  readonly reachedCount: number
  /** The attempt before failed on the network: its connection is not trusted again. */
  readonly isFreshConnection: boolean
}

export interface Schedule {
  /** Adds a file's units in their order. Files are served in the order in which they are added. */
  add(units: readonly Unit[]): void
  /** Gives the next unit that may be sent at `nowMs`, or nothing. A taken unit is not given again until put back. */
  take(nowMs: number): Turn | undefined
  /** A taken unit will be tried again, not before `notBeforeMs`. */
  putBack(turn: Turn, notBeforeMs: number): void
  /** A taken unit is done with. */
  settle(unit: Unit): void
  /** Nothing more of this file is given out. */
  drop(fileIndex: number): void
  /** Units that `take` would give out at `nowMs`; with `order: next`, files rather than units. */
  readyCount(nowMs: number): number
  /** When the earliest waiting unit may go; undefined when none waits. */
  nextDueMs(): number | undefined
}

export interface ScheduleOptions {
  /** `next`: at most one unit of a file is out at a time, in order. */
  readonly order: 'any' | 'next'
}

interface Queued {
  readonly units: readonly Unit[]
  cursor: number
  /** With `order: next`: a unit of this file is out or waits to be tried again. */
  isBusy: boolean
}

export function createSchedule({ order }: ScheduleOptions): Schedule {
  const files = new Map<number, Queued>()
  const waiting: { turn: Turn; notBeforeMs: number; sequence: number }[] = []
  let sequence = 0
  let freshCount = 0

  const isTakable = (queued: Queued): boolean =>
    queued.cursor < queued.units.length && (order === 'any' || !queued.isBusy)

  const takeFresh = (): Turn | undefined => {
    for (const [fileIndex, queued] of files) {
      if (order === 'any' && queued.cursor >= queued.units.length) {
        files.delete(fileIndex)
        continue
      }
      if (!isTakable(queued)) continue
      const unit = queued.units[queued.cursor]
      if (unit === undefined) continue
      queued.cursor += 1
      queued.isBusy = true
      freshCount -= 1
      return { unit, attempt: 1, reachedCount: 0, isFreshConnection: false }
    }
    return undefined
  }

  const dueCount = (nowMs: number): number => {
    let count = 0
    for (const entry of waiting) if (entry.notBeforeMs <= nowMs) count += 1
    return count
  }

  return {
    add(units) {
      const [first] = units
      if (first === undefined) return
      const queued = files.get(first.fileIndex)
      const left = queued?.units.slice(queued.cursor) ?? []
      files.set(first.fileIndex, { units: [...left, ...units], cursor: 0, isBusy: queued?.isBusy ?? false })
      freshCount += units.length
    },
    take(nowMs) {
      const first = waiting[0]
      if (first !== undefined && first.notBeforeMs <= nowMs) {
        waiting.shift()
        return first.turn
      }
      return takeFresh()
    },
    putBack(turn, notBeforeMs) {
      sequence += 1
      const entry = { turn, notBeforeMs, sequence }
      waiting.splice(insertionPoint(waiting, entry), 0, entry)
    },
    settle(unit) {
      const queued = files.get(unit.fileIndex)
      if (queued === undefined) return
      queued.isBusy = false
      if (queued.cursor >= queued.units.length) files.delete(unit.fileIndex)
    },
    drop(fileIndex) {
      const queued = files.get(fileIndex)
      if (queued !== undefined) freshCount -= queued.units.length - queued.cursor
      files.delete(fileIndex)
      for (let index = waiting.length - 1; index >= 0; index -= 1) {
        if (waiting[index]?.turn.unit.fileIndex === fileIndex) waiting.splice(index, 1)
      }
    },
    readyCount(nowMs) {
      if (order === 'any') return freshCount + dueCount(nowMs)
      let count = dueCount(nowMs)
      for (const queued of files.values()) if (isTakable(queued)) count += 1
      return count
    },
    nextDueMs: () => waiting[0]?.notBeforeMs,
  }
}

/** Where an entry belongs so that the list stays sorted by time, then by arrival. */
function insertionPoint(
  sorted: readonly { notBeforeMs: number; sequence: number }[],
  entry: { notBeforeMs: number; sequence: number },
): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = sorted[middle]
    if (other !== undefined && other.notBeforeMs <= entry.notBeforeMs) low = middle + 1
    else high = middle
  }
  return low
}
