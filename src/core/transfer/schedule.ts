// Which part goes next. It is asked only when a slot frees, so that the choice uses all that is known by then. It is deterministic and
// has no clock: the caller passes the time. Parts that were put back to wait hold no slot and no window. Taking a part and putting it
// back need O(log n) comparisons, also with ten thousand parts.
//
// The file with the fewest bytes left goes first: one that is nearly done gets finished, and a small one is not stuck behind a huge one.
// A quarter of the parts in flight is reserved for the earliest file, so that a huge one moves meanwhile and does not become the tail.
// When addresses are about to expire, only their files go, one by one: after that, a half-sent file is worth nothing. The order in which
// files are registered is not decided here. While the source of a file is being opened, one part of it waits for that, and other files
// go: the drive may hang.

import { known } from '../errors.ts'
import { createFileQueues, fileQueue, type FileQueue, type UnitOrder } from './file-queues.ts'
import type { Unit } from '../ports.ts'
import { createSorted } from './sorted.ts'
import type { Turn, WaitingTurn } from './turn.ts'

export type { Turn } from './turn.ts'

export interface Schedule {
  /**
   * Adds units of a file, which go in this order. `deadlineMs`: when its addresses expire, on the clock of `take`; a later call
   * replaces it. Absent: never.
   */
  add(units: readonly Unit[], deadlineMs?: number): void
  /**
   * Gives the next unit that may be sent at `nowMs`, or undefined. A unit is not given again until it is put back. `isProbe`: prefers a
   * unit that was never sent, and gives no other of that file until it is settled, so that one file which is never taken does not speak
   * for all. Without such a unit it takes one that waits, even before its time, but none that waits for its source.
   */
  take(nowMs: number, isProbe?: boolean): Turn | undefined
  /**
   * A taken unit will be tried again, not before `notBeforeMs`. If it waits for its source, its file is held until then, so that the
   * source is closed meanwhile: what a drive has lost is only found again by opening it anew. Does nothing if its file was dropped or
   * restarted meanwhile.
   */
  putBack(turn: Turn, notBeforeMs: number): void
  /** Restarts a file with these units. What was given out of it before can no longer be put back. */
  restart(fileIndex: number, units: readonly Unit[], deadlineMs?: number): void
  /**
   * Gives out nothing more of this file while it is held, except what is put back meanwhile: its source is being opened for the unit
   * that is out, and may never open. If that fails, the same unit tries again for all of them: whoever sends it ends the hold, and so
   * does a restart.
   */
  hold(fileIndex: number, isHeld: boolean): void
  /** A taken unit needs no further attempt. Does nothing if its file was dropped or restarted meanwhile. */
  settle(turn: Turn): void
  /** Gives out nothing more of this file, now or later. */
  drop(fileIndex: number): void
  /**
   * Number of units that `take` would give out at `nowMs`; with `order: next`, at most one new unit of each file counts. For a
   * probe, all that wait count as one.
   */
  readyCount(nowMs: number, isProbe?: boolean): number
  /** When the earliest unit that must still wait at `nowMs` may go; undefined when none waits. */
  nextDueMs(nowMs: number): number | undefined
}

/** One in this many of the parts that are out is reserved for the earliest file. */
const FIRST_COMER_SHARE = 4
/** Addresses that expire within this time are about to expire, ms. */
const NEAR_MS = 300_000

export function createSchedule(order: UnitOrder): Schedule {
  const files = new Map<number, FileQueue>()
  const dropped = new Set<number>()
  /** Turns that were put back, but for those from before their file was held. */
  const waiting = createSorted<WaitingTurn>((entry) => entry.notBeforeMs)
  const queues = createFileQueues(order)
  let outCount = 0
  let firstComerCount = 0
  /** The last turn given out was a retry. The next is a new unit, so that parts which are never taken do not hold up the others. */
  let wasRepeat = false

  /** Counts units that go out, or come back. */
  const count = (file: FileQueue, parts: number, firstComers: number): void => {
    file.outCount += parts
    outCount += parts
    file.firstComerCount += firstComers
    firstComerCount += firstComers
  }
  /** Counts a unit as back. Returns its file, unless that was dropped or restarted since. */
  const takeBack = ({ unit, epoch, isFirstComer }: Turn): FileQueue | undefined => {
    const file = files.get(unit.fileIndex)
    if (file?.epoch !== epoch) return undefined
    count(file, -1, -Number(isFirstComer))
    return file
  }
  const hold = (fileIndex: number): void => {
    const file = known(files.get(fileIndex))
    const { held = [] } = file
    const isOfFile = ({ turn }: WaitingTurn): boolean => turn.unit.fileIndex === fileIndex
    // Most often none waits, among ten thousand of other files.
    for (let entry: WaitingTurn | undefined; (entry = waiting.take(Infinity, isOfFile));) held.push(entry)
    queues.change(file, { held })
  }
  const release = (fileIndex: number): void => {
    const file = known(files.get(fileIndex))
    if (!file.held) return
    file.held.forEach(waiting.add)
    queues.change(file, { held: undefined })
  }
  const restart = (fileIndex: number, units: readonly Unit[], deadlineMs = Infinity): void => {
    const file = files.get(fileIndex)
    if (!file || dropped.has(fileIndex)) return
    // Takes the turns that wait, which are then forgotten.
    hold(fileIndex)
    count(file, -file.outCount, -file.firstComerCount)
    file.epoch += 1
    queues.fill(file, units, deadlineMs, { isBusy: false, held: undefined })
  }
  const takeFresh = (nowMs: number, isProbe: boolean): Turn | undefined => {
    const dying = queues.firstDying(nowMs)
    const isNear = dying && dying.deadlineMs <= nowMs + NEAR_MS
    const isFirstComer = !isNear && (firstComerCount + 1) * FIRST_COMER_SHARE <= outCount + 1
    const file = isNear ? dying : isFirstComer ? queues.earliest() : queues.leastLeft()
    if (!file) return undefined
    const unit = queues.take(file, isProbe)
    count(file, 1, Number(isFirstComer))
    return { unit, attempt: 1, usedTries: 0, isFreshConnection: false, isFirstComer, epoch: file.epoch }
  }
  /** Whether a turn may go, as a probe even before its time, but not before that of its source. */
  const mayGo =
    (nowMs: number, upToMs: number) =>
    ({ turn, notBeforeMs }: WaitingTurn): boolean =>
      notBeforeMs <= (turn.isSourceBusy ? nowMs : upToMs)
  const takeWaiting = (nowMs: number, upToMs = nowMs): Turn | undefined => {
    const first = waiting.take(upToMs, mayGo(nowMs, upToMs))
    if (!first) return undefined
    const { fileIndex } = first.turn.unit
    count(known(files.get(fileIndex)), 1, 0)
    // What comes of this attempt says anew whether it waits for its source.
    return { ...first.turn, isSourceBusy: false }
  }

  return {
    add(units, deadlineMs = Infinity) {
      const [first] = units
      if (!first || dropped.has(first.fileIndex)) return
      const file = files.get(first.fileIndex) ?? fileQueue(files.size)
      files.set(first.fileIndex, file)
      queues.fill(file, [...file.units.slice(file.cursor), ...units], deadlineMs)
    },
    take(nowMs, isProbe = false) {
      if (isProbe) return takeFresh(nowMs, isProbe) ?? takeWaiting(nowMs, Infinity)
      const turn = wasRepeat
        ? (takeFresh(nowMs, false) ?? takeWaiting(nowMs))
        : (takeWaiting(nowMs) ?? takeFresh(nowMs, false))
      wasRepeat = (turn?.attempt ?? 0) > 1
      return turn
    },
    putBack(turn, notBeforeMs) {
      if (!takeBack(turn)) return
      if (turn.isSourceBusy) hold(turn.unit.fileIndex)
      waiting.add({ turn: { ...turn, isFirstComer: false }, notBeforeMs })
    },
    hold: (fileIndex, isHeld) => (isHeld ? hold : release)(fileIndex),
    restart,
    settle(turn) {
      const file = takeBack(turn)
      if (file?.isBusy) queues.change(file, { isBusy: false })
    },
    drop(fileIndex) {
      restart(fileIndex, [])
      dropped.add(fileIndex)
    },
    readyCount: (nowMs, isProbe) =>
      queues.freshCount() + (isProbe ? Number(waiting.has(mayGo(nowMs, Infinity))) : waiting.countUpTo(nowMs)),
    nextDueMs: (nowMs) => waiting.after(nowMs)?.notBeforeMs,
  }
}
