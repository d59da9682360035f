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
  /** How often its file had begun anew when it was given out. */
  readonly epoch: number
}

export interface Schedule {
  /** Adds a file's units in their order. Files are served in the order in which they are added. */
  add(units: readonly Unit[]): void
  /** Gives the next unit that may be sent at `nowMs`, or nothing. A taken unit is not given again until put back. */
  take(nowMs: number): Turn | undefined
  /** A taken unit will be tried again, not before `notBeforeMs`; of a dropped file it will not. */
  putBack(turn: Turn, notBeforeMs: number): void
  /** The file begins anew with these units; what was given out of it before does not come back. */
  restart(fileIndex: number, units: readonly Unit[]): void
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
  /** Its place among the files, from its first units on. */
  readonly place: number
  epoch: number
}

export function createSchedule({ order }: ScheduleOptions): Schedule {
  const files = new Map<number, Queued>()
  const dropped = new Set<number>()
  const waiting = createSorted<{ readonly turn: Turn; readonly notBeforeMs: number }>((entry) => entry.notBeforeMs)
  /** Files that could give a unit now, by place. */
  const open = createSorted<Queued>((queued) => queued.place)
  /** What these could give: units, or one of each file where only the next may go. */
  let freshCount = 0

  const freshOf = ({ units, cursor, isBusy }: Queued): number => {
    const left = units.length - cursor
    return order === 'any' ? left : Number(left > 0 && !isBusy)
  }
  /** Every change of a file goes through here, so that the count and the list of open files stay true. */
  const change = (queued: Queued, apply: (queued: Queued) => void): void => {
    const before = freshOf(queued)
    apply(queued)
    const after = freshOf(queued)
    freshCount += after - before
    if (before === 0 && after > 0) open.add(queued)
    if (before > 0 && after === 0) open.remove(queued)
  }
  const takeFresh = (): Turn | undefined => {
    const queued = open.first()
    const unit = queued?.units[queued.cursor]
    if (queued === undefined || unit === undefined) return undefined
    change(queued, () => {
      queued.cursor += 1
      queued.isBusy = true
    })
    return { unit, attempt: 1, reachedCount: 0, isFreshConnection: false, epoch: queued.epoch }
  }
  const takeWaiting = (nowMs: number): Turn | undefined => {
    const first = waiting.first()
    if (first === undefined || first.notBeforeMs > nowMs) return undefined
    waiting.remove(first)
    return first.turn
  }

  return {
    add(units) {
      const [first] = units
      if (first === undefined || dropped.has(first.fileIndex)) return
      const known = files.get(first.fileIndex)
      const queued = known ?? { units: [], cursor: 0, isBusy: false, place: files.size, epoch: 0 }
      files.set(first.fileIndex, queued)
      change(queued, () => {
        queued.units = [...queued.units.slice(queued.cursor), ...units]
        queued.cursor = 0
      })
    },
    take: (nowMs) => takeWaiting(nowMs) ?? takeFresh(),
    putBack(turn, notBeforeMs) {
      const { fileIndex } = turn.unit
      if (dropped.has(fileIndex) || files.get(fileIndex)?.epoch !== turn.epoch) return
      waiting.add({ turn, notBeforeMs })
    },
    restart(fileIndex, units) {
      waiting.keep(({ turn }) => turn.unit.fileIndex !== fileIndex)
      const queued = files.get(fileIndex)
      if (queued === undefined) return
      change(queued, () => {
        queued.units = units
        queued.cursor = 0
        queued.isBusy = false
        queued.epoch += 1
      })
    },
    settle({ fileIndex }) {
      const queued = files.get(fileIndex)
      if (queued === undefined) return
      change(queued, () => {
        queued.isBusy = false
      })
    },
    drop(fileIndex) {
      dropped.add(fileIndex)
      waiting.keep(({ turn }) => turn.unit.fileIndex !== fileIndex)
      const queued = files.get(fileIndex)
      if (queued === undefined) return
      change(queued, () => {
        queued.cursor = queued.units.length
      })
    },
    readyCount: (nowMs) => freshCount + waiting.countUpTo(nowMs),
    nextDueMs: (nowMs) => waiting.at(waiting.countUpTo(nowMs))?.notBeforeMs,
  }
}

interface Sorted<T> {
  add(item: T): void
  remove(item: T): void
  keep(isKept: (item: T) => boolean): void
  first(): T | undefined
  at(index: number): T | undefined
  /** How many have a key up to this one. */
  countUpTo(key: number): number
}

/** Items by key, those of one key by arrival. */
function createSorted<T>(keyOf: (item: T) => number): Sorted<T> {
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
    remove(item) {
      // Nearly always the first one; otherwise it is among those of its key.
      const index = items[0] === item ? 0 : items.lastIndexOf(item, countUpTo(keyOf(item)) - 1)
      if (index === 0) items.shift()
      else if (index > 0) items.splice(index, 1)
    },
    keep(isKept) {
      if (items.length > 0) items = items.filter(isKept)
    },
    first: () => items[0],
    at: (index) => items[index],
    countUpTo,
  }
}
