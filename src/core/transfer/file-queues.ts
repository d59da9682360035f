// The units of each file that were never given out, and the files that have some in three orders: by what is left, by age and
// by deadline. Each change costs O(log n) comparisons.

import { known } from '../errors.ts'
import { createHeap } from './heap.ts'
import type { Unit } from '../ports.ts'
import type { WaitingTurn } from './turn.ts'

/** `next`: the units of a file go one at a time, in order. */
export type UnitOrder = 'any' | 'next'

export interface FileQueue {
  units: readonly Unit[]
  cursor: number
  /** No new unit of this file may go: with `order: next`, or after a probe, the one that is out or waits must settle first. */
  isBusy: boolean
  /** Nothing new of this file may go while its source is waited for: the turns of it that waited before. Undefined: it may. */
  held: WaitingTurn[] | undefined
  /** Its position among the files, in the order in which they were first added. */
  readonly place: number
  /** How often it was restarted. */
  epoch: number
  deadlineMs: number
  /** Bytes of the units that were not given out yet. */
  leftBytes: number
  /** How many of its units are out, and how many of those have a place that is reserved for the earliest file. */
  outCount: number
  firstComerCount: number
  /** Counts the changes, so that the heaps recognize stale entries. */
  stamp: number
}

type Gate = Partial<Pick<FileQueue, 'isBusy' | 'held'>>

export interface FileQueues {
  /** Sets what is left of a file, and makes other changes with it. */
  fill(file: FileQueue, units: readonly Unit[], deadlineMs: number, changes?: Gate): void
  /** Changes whether a file can give a new unit. */
  change(file: FileQueue, changes: Gate): void
  /** Takes the next unit of a file that can give one. `isProbe`: no other of it may go until it is freed. */
  take(file: FileQueue, isProbe: boolean): Unit
  /** The file with the fewest bytes left, of those that can give a new unit; the earlier one if they are equal. */
  leastLeft(): FileQueue | undefined
  earliest(): FileQueue | undefined
  /** The file whose addresses expire next. Those that have already expired are passed over: haste does not save them. */
  firstDying(nowMs: number): FileQueue | undefined
  /** How many new units the files can give; with `order: next`, at most one of each. */
  freshCount(): number
}

/** Deadlines within one step of this length count as equal, ms: those of one session differ only by how long signing took. */
const DEADLINE_STEP_MS = 60_000

export function createFileQueues(order: UnitOrder): FileQueues {
  /** The heaps hold the files that can give a new unit now; a file that no longer can has changed since it was added. */
  const stampOf = ({ stamp }: FileQueue): number => stamp
  const byLeft = createHeap<FileQueue>(({ leftBytes, place }) => [leftBytes, place], stampOf)
  const byPlace = createHeap<FileQueue>(
    ({ place }) => [place],
    (file) => (freshOf(file) > 0 ? 0 : NaN),
  )
  const byDeadline = createHeap<FileQueue>(
    ({ deadlineMs, leftBytes, place }) => [Math.floor(deadlineMs / DEADLINE_STEP_MS), leftBytes, place],
    stampOf,
  )
  let freshCount = 0

  const freshOf = ({ units, cursor, isBusy, held }: FileQueue): number => {
    const left = isBusy || held ? 0 : units.length - cursor
    return order === 'any' ? left : Math.min(left, 1)
  }
  /** Makes every change of a file, so that the count and the heaps stay correct. */
  const change = (file: FileQueue, changes: Partial<FileQueue>): void => {
    const before = freshOf(file)
    const after = freshOf(Object.assign(file, changes))
    freshCount += after - before
    file.stamp += 1
    if (after === 0) return
    byLeft.add(file)
    if (before === 0) byPlace.add(file)
    if (file.deadlineMs < Infinity) byDeadline.add(file)
  }

  return {
    change,
    fill(file, units, deadlineMs, changes) {
      const leftBytes = units.reduce((sum, { start, end }) => sum + end - start, 0)
      change(file, { units, cursor: 0, leftBytes, deadlineMs, ...changes })
    },
    take(file, isProbe) {
      const { units, cursor, leftBytes } = file
      const unit = known(units[cursor])
      const isBusy = isProbe || order === 'next'
      change(file, { cursor: cursor + 1, leftBytes: leftBytes + unit.start - unit.end, isBusy })
      return unit
    },
    leastLeft: byLeft.first,
    earliest: byPlace.first,
    firstDying(nowMs) {
      let file = byDeadline.first()
      for (; file && file.deadlineMs <= nowMs; file = byDeadline.first()) change(file, { deadlineMs: Infinity })
      return file
    },
    freshCount: () => freshCount,
  }
}

export function fileQueue(place: number): FileQueue {
  // One shape for all of them, see ledgerFile.
  return {
    units: [],
    cursor: 0,
    isBusy: false,
    held: undefined,
    epoch: 0,
    leftBytes: 0,
    outCount: 0,
    firstComerCount: 0,
    stamp: 0,
    place,
    deadlineMs: Infinity,
  }
}
