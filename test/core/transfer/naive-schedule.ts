// The rules of the schedule once more, without heaps and counts: it looks at everything each time, and is judged by eye.

import type { Unit } from '../../../src/core/ports.ts'
import type { Schedule } from '../../../src/core/transfer/schedule.ts'
import type { Turn } from '../../../src/core/transfer/turn.ts'

interface NaiveFile {
  readonly place: number
  rest: readonly Unit[]
  isBusy: boolean
  isHeld: boolean
  held: Waiting[]
  epoch: number
  deadlineMs: number
}

interface Waiting {
  readonly turn: Turn
  readonly notBeforeMs: number
}

const FIVE_MINUTES_MS = 300_000

export function naiveSchedule(order: 'any' | 'next'): Schedule {
  const files = new Map<number, NaiveFile>()
  const dropped = new Set<number>()
  let waiting: Waiting[] = []
  let out: { readonly unit: Unit; readonly isFirstComer: boolean }[] = []
  let wasRepeat = false

  const open = (): NaiveFile[] =>
    [...files.values()].filter(({ isBusy, isHeld, rest }) => !isBusy && !isHeld && rest.length > 0)
  const leftOf = ({ rest }: NaiveFile): number => rest.reduce((sum, { start, end }) => sum + end - start, 0)
  const minuteOf = ({ deadlineMs }: NaiveFile): number => Math.floor(deadlineMs / 60_000)
  /** The least by the first of these that tells two apart. */
  const leastBy = (candidates: NaiveFile[], ...keys: ((file: NaiveFile) => number)[]): NaiveFile | undefined =>
    candidates.toSorted((a, b) => keys.map((key) => key(a) - key(b)).find((difference) => difference !== 0) ?? 0)[0]
  const isDue = (nowMs: number) => (entry: { readonly notBeforeMs: number }) => entry.notBeforeMs <= nowMs
  const giveBack = (turn: Turn): void => {
    const isIt = ({ unit, isFirstComer }: (typeof out)[number]): boolean =>
      unit.fileIndex === turn.unit.fileIndex &&
      unit.partNumber === turn.unit.partNumber &&
      isFirstComer === turn.isFirstComer
    const at = out.findIndex(isIt)
    out = out.filter((_, index) => index !== at)
  }
  const takeFresh = (nowMs: number, isProbe: boolean): Turn | undefined => {
    const alive = open().filter(({ deadlineMs }) => deadlineMs > nowMs && deadlineMs < Infinity)
    const dying = leastBy(alive, minuteOf, leftOf, ({ place }) => place)
    const isNear = dying !== undefined && dying.deadlineMs - nowMs <= FIVE_MINUTES_MS
    const firstComers = out.filter(({ isFirstComer }) => isFirstComer).length
    const isFirstComer = !isNear && (firstComers + 1) / (out.length + 1) <= 1 / 4
    const file = isNear
      ? dying
      : isFirstComer
        ? leastBy(open(), ({ place }) => place)
        : leastBy(open(), leftOf, ({ place }) => place)
    const unit = file?.rest[0]
    if (file === undefined || unit === undefined) return undefined
    file.rest = file.rest.slice(1)
    file.isBusy = isProbe || order === 'next'
    out = [...out, { unit, isFirstComer }]
    return { unit, attempt: 1, usedTries: 0, isFreshConnection: false, isFirstComer, epoch: file.epoch }
  }
  const mayGo = (nowMs: number, isProbe: boolean): Waiting[] =>
    waiting.filter((entry) => isDue(nowMs)(entry) || (isProbe && entry.turn.isSourceBusy !== true))
  const takeWaiting = (nowMs: number, isProbe = false): Turn | undefined => {
    const first = mayGo(nowMs, isProbe).toSorted((a, b) => a.notBeforeMs - b.notBeforeMs)[0]
    if (first === undefined) return undefined
    waiting = waiting.filter((entry) => entry !== first)
    out = [...out, { unit: first.turn.unit, isFirstComer: false }]
    return { ...first.turn, isSourceBusy: false }
  }
  const hold = (fileIndex: number, isHeld: boolean): void => {
    const file = files.get(fileIndex)!
    const isOfIt = ({ turn }: Waiting): boolean => turn.unit.fileIndex === fileIndex
    file.isHeld = isHeld
    if (isHeld) file.held.push(...waiting.filter(isOfIt))
    // They come after others whose time is the same.
    waiting = isHeld ? waiting.filter((entry) => !isOfIt(entry)) : [...waiting, ...file.held.splice(0)]
  }
  const restart = (fileIndex: number, units: readonly Unit[], deadlineMs = Infinity): void => {
    const file = files.get(fileIndex)
    waiting = waiting.filter(({ turn }) => turn.unit.fileIndex !== fileIndex)
    if (file === undefined || dropped.has(fileIndex)) return
    out = out.filter(({ unit }) => unit.fileIndex !== fileIndex)
    Object.assign(file, { rest: units, isBusy: false, isHeld: false, held: [], epoch: file.epoch + 1, deadlineMs })
  }

  return {
    add(units, deadlineMs = Infinity) {
      const fileIndex = units[0]!.fileIndex
      if (dropped.has(fileIndex)) return
      const file = files.get(fileIndex) ?? {
        place: files.size,
        rest: [],
        isBusy: false,
        isHeld: false,
        held: [],
        epoch: 0,
        deadlineMs,
      }
      files.set(fileIndex, Object.assign(file, { rest: [...file.rest, ...units], deadlineMs }))
    },
    take(nowMs, isProbe = false) {
      if (isProbe) return takeFresh(nowMs, true) ?? takeWaiting(nowMs, true)
      const ways = [takeWaiting, (atMs: number) => takeFresh(atMs, false)]
      const turn = (wasRepeat ? ways.toReversed() : ways).reduce<Turn | undefined>(
        (found, way) => found ?? way(nowMs),
        undefined,
      )
      wasRepeat = turn !== undefined && turn.attempt > 1
      return turn
    },
    putBack(turn, notBeforeMs) {
      const { fileIndex } = turn.unit
      const file = files.get(fileIndex)
      if (file === undefined || dropped.has(fileIndex) || file.epoch !== turn.epoch) return
      giveBack(turn)
      if (turn.isSourceBusy === true) hold(fileIndex, true)
      waiting = [...waiting, { turn: { ...turn, isFirstComer: false }, notBeforeMs }]
    },
    hold,
    restart,
    settle(turn) {
      const file = files.get(turn.unit.fileIndex)
      if (file?.epoch !== turn.epoch) return
      giveBack(turn)
      file.isBusy = false
    },
    drop(fileIndex) {
      restart(fileIndex, [])
      dropped.add(fileIndex)
    },
    readyCount: (nowMs, isProbe = false) =>
      Math.min(mayGo(nowMs, isProbe).length, isProbe ? 1 : Infinity) +
      open().reduce((count, { rest }) => count + (order === 'any' ? rest.length : 1), 0),
    nextDueMs: (nowMs) =>
      waiting
        .map(({ notBeforeMs }) => notBeforeMs)
        .filter((dueMs) => dueMs > nowMs)
        .toSorted((a, b) => a - b)[0],
  }
}
