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
  /** A taken unit will be tried again, not before `notBeforeMs`; of a dropped file it will not. */
  putBack(turn: Turn, notBeforeMs: number): void
  /** A taken unit is done with. */
  settle(unit: Unit): void
  /** Nothing more of this file is given out, now or later. */
  drop(fileIndex: number): void
  /** Units that `take` would give out at `nowMs`; with `order: next`, files rather than units. */
  readyCount(nowMs: number): number
  /** When the earliest unit that must still wait at `nowMs` may go; undefined when none waits. */
  nextDueMs(nowMs: number): number | undefined
}

export interface ScheduleOptions {
  /** `next`: at most one unit of a file is out at a time, in order. */
  readonly order: 'any' | 'next'
}

interface Queued {
  units: readonly Unit[]
  cursor: number
  /** With `order: next`: a unit of this file is out or waits to be tried again. */
  isBusy: boolean
}

export function createSchedule({ order }: ScheduleOptions): Schedule {
  const files = new Map<number, Queued>()
  const dropped = new Set<number>()
  const waiting = createWaiting()
  /** What `takeFresh` could give: units, or files where only the next unit of each may go. */
  let freshCount = 0

  const freshOf = (queued: Queued): number => {
    const left = queued.units.length - queued.cursor
    return order === 'any' ? left : Number(left > 0 && !queued.isBusy)
  }
  /** Every change of a file's entry goes through here, so that the count stays true. */
  const change = (fileIndex: number, queued: Queued, apply: (queued: Queued) => void): void => {
    const before = files.has(fileIndex) ? freshOf(queued) : 0
    apply(queued)
    const isOver = queued.cursor >= queued.units.length && (order === 'any' || !queued.isBusy)
    if (isOver) files.delete(fileIndex)
    else files.set(fileIndex, queued)
    freshCount += (isOver ? 0 : freshOf(queued)) - before
  }
  const takeFresh = (): Turn | undefined => {
    if (freshCount === 0) return undefined
    for (const [fileIndex, queued] of files) {
      const unit = freshOf(queued) > 0 ? queued.units[queued.cursor] : undefined
      if (unit === undefined) continue
      change(fileIndex, queued, () => {
        queued.cursor += 1
        queued.isBusy = true
      })
      return { unit, attempt: 1, reachedCount: 0, isFreshConnection: false }
    }
    return undefined
  }

  return {
    add(units) {
      const [first] = units
      if (first === undefined || dropped.has(first.fileIndex)) return
      const queued = files.get(first.fileIndex) ?? { units: [], cursor: 0, isBusy: false }
      change(first.fileIndex, queued, () => {
        queued.units = [...queued.units.slice(queued.cursor), ...units]
        queued.cursor = 0
      })
    },
    take: (nowMs) => waiting.take(nowMs) ?? takeFresh(),
    putBack(turn, notBeforeMs) {
      if (!dropped.has(turn.unit.fileIndex)) waiting.add(turn, notBeforeMs)
    },
    settle({ fileIndex }) {
      const queued = files.get(fileIndex)
      if (queued === undefined) return
      change(fileIndex, queued, () => {
        queued.isBusy = false
      })
    },
    drop(fileIndex) {
      dropped.add(fileIndex)
      waiting.drop(fileIndex)
      const queued = files.get(fileIndex)
      if (queued !== undefined) freshCount -= freshOf(queued)
      files.delete(fileIndex)
    },
    readyCount: (nowMs) => freshCount + waiting.dueCount(nowMs),
    nextDueMs: (nowMs) => waiting.nextDueMs(nowMs),
  }
}

interface Waiting {
  add(turn: Turn, notBeforeMs: number): void
  take(nowMs: number): Turn | undefined
  drop(fileIndex: number): void
  dueCount(nowMs: number): number
  nextDueMs(nowMs: number): number | undefined
}

/** Turns that must wait, sorted by time, then by arrival. */
function createWaiting(): Waiting {
  let sorted: { readonly turn: Turn; readonly notBeforeMs: number }[] = []

  /** How many may go at that time; where one that may go then belongs. */
  const countUpTo = (atMs: number): number => {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle]?.notBeforeMs ?? Infinity) <= atMs) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    add(turn, notBeforeMs) {
      sorted.splice(countUpTo(notBeforeMs), 0, { turn, notBeforeMs })
    },
    take(nowMs) {
      const [first] = sorted
      if (first === undefined || first.notBeforeMs > nowMs) return undefined
      sorted.shift()
      return first.turn
    },
    drop(fileIndex) {
      if (sorted.length > 0) sorted = sorted.filter(({ turn }) => turn.unit.fileIndex !== fileIndex)
    },
    dueCount: countUpTo,
    nextDueMs: (nowMs) => sorted[countUpTo(nowMs)]?.notBeforeMs,
  }
}
