// The units of each file that were never given out, and the files that have some in three orders: by what is left, by age and
// by deadline. Each change costs O(log n) comparisons.

import { createHeap } from './heap.ts'
import type { Unit } from '../ports.ts'

/** `next`: the units of a file go one at a time, in order. */
export type UnitOrder = 'any' | 'next'

export interface FileQueue {
  units: readonly Unit[]
  cursor: number
  /** No new unit of this file may go: with `order: next`, or after a probe, the one that is out or waits must settle first. */
  isBusy: boolean
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

export interface FileQueues {
  /** Sets what is left of a file. */
  fill(file: FileQueue, units: readonly Unit[], deadlineMs: number): void
  /** The file need not wait for a unit that is out any more. */
  free(file: FileQueue): void
  /** Takes the next unit of a file. `isProbe`: no other of it may go until it is freed. */
  take(file: FileQueue, isProbe: boolean): Unit | undefined
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

  const freshOf = ({ units, cursor, isBusy }: FileQueue): number => {
    const left = isBusy ? 0 : units.length - cursor
    return order === 'any' ? left : Math.min(left, 1)
  }
  /** Follows every change of a file, so that the count and the heaps stay correct. `before`: the units that it could give. */
  const changed = (file: FileQueue, before: number): void => {
    const after = freshOf(file)
    freshCount += after - before
    file.stamp += 1
    if (after === 0) return
    byLeft.add(file)
    if (before === 0) byPlace.add(file)
    if (file.deadlineMs < Infinity) byDeadline.add(file)
  }

  return {
    fill(file, units, deadlineMs) {
      const before = freshOf(file)
      file.units = units
      file.cursor = 0
      file.leftBytes = bytesOf(units)
      file.deadlineMs = deadlineMs
      changed(file, before)
    },
    free(file) {
      if (!file.isBusy) return
      file.isBusy = false
      changed(file, 0)
    },
    take(file, isProbe) {
      const unit = file.units[file.cursor]
      if (!unit) return undefined
      const before = freshOf(file)
      file.cursor += 1
      file.leftBytes -= unit.end - unit.start
      file.isBusy = isProbe || order === 'next'
      changed(file, before)
      return unit
    },
    leastLeft: byLeft.first,
    earliest: byPlace.first,
    firstDying(nowMs) {
      let file = byDeadline.first()
      for (; file && file.deadlineMs <= nowMs; file = byDeadline.first()) {
        file.deadlineMs = Infinity
        changed(file, freshOf(file))
      }
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
    epoch: 0,
    leftBytes: 0,
    outCount: 0,
    firstComerCount: 0,
    stamp: 0,
    place,
    deadlineMs: Infinity,
  }
}

function bytesOf(units: readonly Unit[]): number {
  return units.reduce((sum, { start, end }) => sum + end - start, 0)
}
