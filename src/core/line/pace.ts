// Gives leave to send: one queue for the bodies of all attempts, so that together they stay below one rate and none starves.
// The rate follows a timetable, may be changed while parts are under way, and is lowered further where background asks for it.

import { onAbort } from '../on-abort.ts'
import { createAlarm } from '../time/alarm.ts'
import type { Clock } from '../ports.ts'
import { createRateLimit } from './rate-limit.ts'
import { minuteOfDay, parseTimetable, type LimitRate } from './timetable.ts'

export interface Pace {
  /** Whether bytes have to wait at all now. */
  isLimited(): boolean
  /** The timetable's limit now, bytes per second; undefined: none. */
  limit(): number | undefined
  /** The maximum number of bytes to ask leave for at once. */
  pieceBytes(): number
  /** Waits for leave to send. Undefined: go on at once. Rejects with the signal's reason; then nothing was spent. */
  take(bytes: number, signal: AbortSignal): Promise<void> | undefined
  /** Sets another limit from now on. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid one. */
  setLimit(limit: LimitRate | undefined): void
  /** Sets a second limit beside the timetable's, bytes per second; undefined: none. */
  setCeiling(bytesPerSecond: number | undefined): void
}

/** What an attempt needs of it. */
export type PartPace = Pick<Pace, 'isLimited' | 'pieceBytes' | 'take'>

interface Waiter {
  readonly bytes: number
  go(): void
}

/** How late a change in the timetable, or of the wall clock, may be noticed, ms. */
const LOOK_MS = 1_000

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid limit. */
export function createPace(clock: Clock, limit: LimitRate | undefined): Pace {
  const debt = createRateLimit()
  const waiters = new Set<Waiter>()
  let timetable = parseTimetable(limit)
  let asked: number | undefined
  let ceiling: number | undefined
  let rate: number | undefined
  let lookAtMs = -Infinity

  const look = (nowMs: number): void => {
    lookAtMs = nowMs + LOOK_MS
    asked = timetable.rateAt(minuteOfDay(clock))
    rate = asked === undefined || ceiling === undefined ? (asked ?? ceiling) : Math.min(asked, ceiling)
    debt.setRate(rate, nowMs)
  }
  const now = (): number => {
    const nowMs = clock.monotonicNow()
    if (nowMs >= lookAtMs) look(nowMs)
    return nowMs
  }
  const serve = (): void => {
    const nowMs = now()
    for (const waiter of waiters) {
      const waitMs = debt.waitMs(nowMs)
      if (waitMs > 0) {
        setAlarm(nowMs + Math.min(waitMs, LOOK_MS))
        return
      }
      waiters.delete(waiter)
      debt.spend(waiter.bytes, nowMs)
      waiter.go()
    }
    setAlarm(undefined)
  }
  const setAlarm = createAlarm(clock, serve)
  const changed = (): void => {
    look(clock.monotonicNow())
    serve()
  }

  return {
    isLimited() {
      now()
      return rate !== undefined
    },
    limit() {
      now()
      return asked
    },
    pieceBytes: () => debt.pieceBytes(),
    take(bytes, signal) {
      const nowMs = now()
      if (waiters.size === 0 && debt.waitMs(nowMs) === 0) {
        debt.spend(bytes, nowMs)
        return undefined
      }
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          bytes,
          go() {
            leave()
            resolve()
          },
        }
        waiters.add(waiter)
        const leave = onAbort(signal, () => {
          waiters.delete(waiter)
          reject(signal.reason as Error)
          serve()
        })
        serve()
      })
    },
    setLimit(next) {
      timetable = parseTimetable(next)
      changed()
    },
    setCeiling(bytesPerSecond) {
      ceiling = bytesPerSecond
      changed()
    },
  }
}
