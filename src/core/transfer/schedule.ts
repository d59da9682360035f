// Which part goes next. Asked only when a slot frees, so that the choice is made with all that is known by then.
// Deterministic and without time of its own: the caller says what time it is. Parts that were put back because they
// must wait hold no slot and no window. Taking and putting back cost O(log n) at ten thousand parts.
//
// The file with the least left goes first: one that is nearly done gets done, and a small one is not stuck behind a huge
// one. A quarter of the parts in flight is for the file that came first, so that a huge one moves meanwhile and does not
// become the tail. When addresses are about to die, their files alone go, one by one: a file half sent is worth nothing then.
// In which order files are registered is not decided here.

import { createHeap } from './heap.ts'
import type { Unit } from '../ports.ts'
import { createSorted } from './sorted.ts'

/** A unit to send and how often it has been tried before. */
export interface Turn {
  readonly unit: Unit
  /** Counts from 1. */
  readonly attempt: number
  /** How many of its tries it has used up: not every attempt uses one up, nor a whole one. */
  readonly usedTries: number
  /** The attempt before failed on the network: its connection is not trusted again. */
  readonly isFreshConnection: boolean
  /** How far the storage had ever accepted the part; absent: to where the unit starts. */
  readonly furthestEnd?: number
  /** How often its file had begun anew when it was given out. */
  readonly epoch: number
}

export interface Schedule {
  /**
   * Adds a file's units; they go in their order. `deadlineMs`: when its addresses die, on the clock of `take`; the newest one
   * given holds. Absent: never.
   */
  add(units: readonly Unit[], deadlineMs?: number): void
  /**
   * Gives the next unit that may be sent at `nowMs`, or nothing. A taken unit is not given again until put back. `isProbe`: rather the
   * first of a file, of which no other goes before it is settled, so that one file that is never taken does not stand for all; else
   * one that waits, also before its time.
   */
  take(nowMs: number, isProbe?: boolean): Turn | undefined
  /** A taken unit will be tried again, not before `notBeforeMs`; of a dropped file it will not. */
  putBack(turn: Turn, notBeforeMs: number): void
  /** The file begins anew with these units; what was given out of it before does not come back. */
  restart(fileIndex: number, units: readonly Unit[], deadlineMs?: number): void
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
  /** A unit of this file is out or waits to be tried again, and none goes for the first time before: with `order: next`, or of a probe. */
  isBusy: boolean
  /** Its place among the files, from its first units on. */
  readonly place: number
  epoch: number
  deadlineMs: number
  /** Bytes of the units that were not given out yet. */
  leftBytes: number
  /** What is given out: no more than there are parts in flight. */
  readonly out: { readonly partNumber: number; readonly isFirstComer: boolean }[]
  /** Counts the changes, for the heaps. */
  stamp: number
}

/** The share of what is out that is for the file that came first: one in so many. */
const FIRST_COMER_SHARE = 4
/** Addresses that die within this are about to, ms. */
const NEAR_MS = 5 * 60_000
/** Deadlines this close to each other count as one, ms: those of a session differ by how long it took to sign them. */
const DEADLINE_STEP_MS = 60_000

export function createSchedule({ order }: ScheduleOptions): Schedule {
  const files = new Map<number, Queued>()
  const dropped = new Set<number>()
  const waiting = createSorted<{ readonly turn: Turn; readonly notBeforeMs: number }>((entry) => entry.notBeforeMs)
  /** Files that could give a unit now: one that cannot was changed since it was added. */
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
  /** What these could give: units, or one of each file where only the next may go. */
  let freshCount = 0
  /** The last one given out had been tried before: the next is a fresh one, so that what is never taken does not hold up the others. */
  let wasRepeat = false

  const freshOf = ({ units, cursor, isBusy }: Queued): number => {
    const left = isBusy ? 0 : units.length - cursor
    return order === 'any' ? left : Math.min(left, 1)
  }
  /** Every change of a file goes through here, so that the count and the heaps of open files stay true. */
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
  /** These are what is left of the file from now on. */
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
  /** Addresses that are dead already are not saved by haste. */
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
    const queued = files.get(first.turn.unit.fileIndex)
    if (queued !== undefined) giveOut(queued, first.turn.unit.partNumber, false)
    return first.turn
  }

  return {
    add(units, deadlineMs = Infinity) {
      const [first] = units
      if (first === undefined || dropped.has(first.fileIndex)) return
      const known = files.get(first.fileIndex)
      const queued = known ?? newFile(files.size)
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
      // A file that was dropped began anew with that.
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
