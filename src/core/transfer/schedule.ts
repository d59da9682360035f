// Which part goes next. It is asked only when a slot frees, so that the choice uses all that is known by then. It is deterministic and
// has no clock: the caller passes the time. Parts that were put back to wait hold no slot and no window. Taking a part and putting it
// back need O(log n) comparisons, also with ten thousand parts.
//
// The file with the fewest bytes left goes first: one that is nearly done gets finished, and a small one is not stuck behind a huge one.
// A quarter of the parts in flight is reserved for the earliest file, so that a huge one moves meanwhile and does not become the tail.
// When addresses are about to expire, only their files go, one by one: after that, a half-sent file is worth nothing. The order in which
// files are registered is not decided here.

import { known } from '../errors.ts'
import { createHeap } from './heap.ts'
import type { Unit } from '../ports.ts'
import { createSorted } from './sorted.ts'

/** A unit to send, and the history of its attempts. */
export interface Turn {
  readonly unit: Unit
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** How many of its tries are used up. An attempt may use up none, or only a fraction of one. */
  readonly usedTries: number
  /** The previous attempt failed on the network, so its connection is not trusted again. */
  readonly isFreshConnection: boolean
  /** The furthest that the storage ever accepted the part, as a byte position; absent: where the unit starts. */
  readonly furthestEnd?: number
  /** How often its file had been restarted when this turn was given out. */
  readonly epoch: number
}

export interface Schedule {
  /**
   * Adds units of a file, which go in this order. `deadlineMs`: when its addresses expire, on the clock of `take`; a later call
   * replaces it. Absent: never.
   */
  add(units: readonly Unit[], deadlineMs?: number): void
  /**
   * Gives the next unit that may be sent at `nowMs`, or undefined. A unit is not given again until it is put back. `isProbe`: prefers a
   * unit that was never sent, and gives no other of that file until it is settled, so that one file which is never taken does not speak
   * for all. Without such a unit it takes one that waits, even before its time.
   */
  take(nowMs: number, isProbe?: boolean): Turn | undefined
  /** A taken unit will be tried again, not before `notBeforeMs`. Does nothing if its file was dropped or restarted meanwhile. */
  putBack(turn: Turn, notBeforeMs: number): void
  /** Restarts a file with these units. What was given out of it before can no longer be put back. */
  restart(fileIndex: number, units: readonly Unit[], deadlineMs?: number): void
  /** A taken unit needs no further attempt. */
  settle(unit: Unit): void
  /** Gives out nothing more of this file, now or later. */
  drop(fileIndex: number): void
  /** Number of units that `take` would give out at `nowMs`; with `order: next`, at most one new unit of each file counts. */
  readyCount(nowMs: number): number
  /** When the earliest unit that must still wait at `nowMs` may go; undefined when none waits. */
  nextDueMs(nowMs: number): number | undefined
}

export interface ScheduleOptions {
  /** `next`: the units of a file go one at a time, in order. */
  readonly order: 'any' | 'next'
}

interface Queued {
  units: readonly Unit[]
  cursor: number
  /** No new unit of this file may go: with `order: next`, or after a probe, the one that is out or waits must settle first. */
  isBusy: boolean
  /** Its position among the files, in the order in which they were first added. */
  readonly place: number
  epoch: number
  deadlineMs: number
  /** Bytes of the units that were not given out yet. */
  leftBytes: number
  /** The units that are out; never more than there are parts in flight. */
  readonly out: { readonly partNumber: number; readonly isFirstComer: boolean }[]
  /** Counts the changes, so that the heaps recognize stale entries. */
  stamp: number
}

/** One in this many of the parts that are out is reserved for the earliest file. */
const FIRST_COMER_SHARE = 4
/** Addresses that expire within this time are about to expire, ms. */
const NEAR_MS = 300_000
/** Deadlines within one step of this length count as equal, ms: those of one session differ only by how long signing took. */
const DEADLINE_STEP_MS = 60_000

export function createSchedule({ order }: ScheduleOptions): Schedule {
  const files = new Map<number, Queued>()
  const dropped = new Set<number>()
  const waiting = createSorted<{ readonly turn: Turn; readonly notBeforeMs: number }>((entry) => entry.notBeforeMs)
  /** The heaps hold the files that can give a new unit now; a file that no longer can has changed since it was added. */
  const stampOf = ({ stamp }: Queued): number => stamp
  const byLeft = createHeap<Queued>(({ leftBytes, place }) => [leftBytes, place], stampOf)
  const byPlace = createHeap<Queued>(
    ({ place }) => [place],
    (queued) => (freshOf(queued) > 0 ? 0 : NaN),
  )
  const byDeadline = createHeap<Queued>(
    ({ deadlineMs, leftBytes, place }) => [Math.floor(deadlineMs / DEADLINE_STEP_MS), leftBytes, place],
    stampOf,
  )
  let outCount = 0
  let firstComerCount = 0
  /** How many new units the files can give; with `order: next`, at most one of each. */
  let freshCount = 0
  /** The last turn given out was a retry. The next is a new unit, so that parts which are never taken do not hold up the others. */
  let wasRepeat = false

  const freshOf = ({ units, cursor, isBusy }: Queued): number => {
    const left = isBusy ? 0 : units.length - cursor
    return order === 'any' ? left : Math.min(left, 1)
  }
  /** Every change of a file goes through here, so that the count and the heaps stay correct. */
  const change = (queued: Queued, apply: (queued: Queued) => void): void => {
    const before = freshOf(queued)
    apply(queued)
    const after = freshOf(queued)
    freshCount += after - before
    queued.stamp += 1
    if (after === 0) return
    byLeft.add(queued)
    if (before === 0) byPlace.add(queued)
    if (queued.deadlineMs < Infinity) byDeadline.add(queued)
  }
  const giveOut = (queued: Queued, partNumber: number, isFirstComer: boolean): void => {
    queued.out.push({ partNumber, isFirstComer })
    outCount += 1
    firstComerCount += Number(isFirstComer)
  }
  const takeBack = (queued: Queued, partNumber: number): void => {
    const at = queued.out.findIndex((given) => given.partNumber === partNumber)
    for (const { isFirstComer } of at === -1 ? [] : queued.out.splice(at, 1)) {
      outCount -= 1
      firstComerCount -= Number(isFirstComer)
    }
  }
  /** Sets what is left of the file. */
  const fill = (queued: Queued, units: readonly Unit[], deadlineMs: number): void => {
    change(queued, () => {
      queued.units = units
      queued.cursor = 0
      queued.leftBytes = bytesOf(units)
      queued.deadlineMs = deadlineMs
    })
  }
  const free = (queued: Queued): void => {
    change(queued, () => {
      queued.isBusy = false
    })
  }
  const restart = (fileIndex: number, units: readonly Unit[], deadlineMs = Infinity): void => {
    waiting.keep(({ turn }) => turn.unit.fileIndex !== fileIndex)
    const queued = files.get(fileIndex)
    if (queued === undefined || dropped.has(fileIndex)) return
    for (const { partNumber } of [...queued.out]) takeBack(queued, partNumber)
    queued.epoch += 1
    free(queued)
    fill(queued, units, deadlineMs)
  }
  /** The file whose addresses expire next. Those that have already expired are passed over: haste does not save them. */
  const firstDying = (nowMs: number): Queued | undefined => {
    for (let queued = byDeadline.first(); queued !== undefined; queued = byDeadline.first()) {
      if (queued.deadlineMs > nowMs) return queued
      change(queued, (dead) => {
        dead.deadlineMs = Infinity
      })
    }
    return undefined
  }
  const takeFresh = (nowMs: number, isProbe: boolean): Turn | undefined => {
    const dying = firstDying(nowMs)
    const isNear = dying !== undefined && dying.deadlineMs <= nowMs + NEAR_MS
    const isFirstComer = !isNear && (firstComerCount + 1) * FIRST_COMER_SHARE <= outCount + 1
    const queued = isNear ? dying : isFirstComer ? byPlace.first() : byLeft.first()
    const unit = queued?.units[queued.cursor]
    if (queued === undefined || unit === undefined) return undefined
    change(queued, () => {
      queued.cursor += 1
      queued.leftBytes -= unit.end - unit.start
      queued.isBusy = isProbe || order === 'next'
    })
    giveOut(queued, unit.partNumber, isFirstComer)
    return { unit, attempt: 1, usedTries: 0, isFreshConnection: false, epoch: queued.epoch }
  }
  const takeWaiting = (nowMs: number): Turn | undefined => {
    const first = waiting.countUpTo(nowMs) > 0 ? waiting.shift() : undefined
    if (first === undefined) return undefined
    const { fileIndex, partNumber } = first.turn.unit
    giveOut(known(files.get(fileIndex)), partNumber, false)
    return first.turn
  }

  return {
    add(units, deadlineMs = Infinity) {
      const [first] = units
      if (first === undefined || dropped.has(first.fileIndex)) return
      const queued = files.get(first.fileIndex) ?? newFile(files.size)
      files.set(first.fileIndex, queued)
      fill(queued, [...queued.units.slice(queued.cursor), ...units], deadlineMs)
    },
    take(nowMs, isProbe = false) {
      if (isProbe) return takeFresh(nowMs, isProbe) ?? takeWaiting(Infinity)
      const turn = wasRepeat
        ? (takeFresh(nowMs, false) ?? takeWaiting(nowMs))
        : (takeWaiting(nowMs) ?? takeFresh(nowMs, false))
      wasRepeat = turn !== undefined && turn.attempt > 1
      return turn
    },
    putBack(turn, notBeforeMs) {
      const { fileIndex, partNumber } = turn.unit
      const queued = files.get(fileIndex)
      // The file was dropped or restarted meanwhile.
      if (queued?.epoch !== turn.epoch) return
      takeBack(queued, partNumber)
      waiting.add({ turn, notBeforeMs })
    },
    restart,
    settle({ fileIndex, partNumber }) {
      const queued = files.get(fileIndex)
      if (queued === undefined) return
      takeBack(queued, partNumber)
      if (queued.isBusy) free(queued)
    },
    drop(fileIndex) {
      restart(fileIndex, [])
      dropped.add(fileIndex)
    },
    readyCount: (nowMs) => freshCount + waiting.countUpTo(nowMs),
    nextDueMs: (nowMs) => waiting.at(waiting.countUpTo(nowMs))?.notBeforeMs,
  }
}

function newFile(place: number): Queued {
  // One shape for all of them, see ledgerFile.
  return {
    units: [],
    cursor: 0,
    isBusy: false,
    epoch: 0,
    leftBytes: 0,
    stamp: 0,
    place,
    deadlineMs: Infinity,
    out: [],
  }
}

function bytesOf(units: readonly Unit[]): number {
  return units.reduce((sum, { start, end }) => sum + end - start, 0)
}
