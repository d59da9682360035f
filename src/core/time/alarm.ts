// One timer that can be moved, for waiting for the earliest of many times.

import type { Clock } from '../ports.ts'

/** Sets the alarm: it rings once at this time, monotonic ms, instead of at the one set before; undefined: not at all. */
export type SetAlarm = (atMs: number | undefined) => void

export function createAlarm(clock: Clock, onRing: () => void): SetAlarm {
  let timer: unknown
  let setForMs: number | undefined

  return (atMs) => {
    if (atMs === setForMs) return
    clock.clearTimeout(timer)
    setForMs = atMs
    if (atMs === undefined) return
    timer = clock.setTimeout(
      () => {
        setForMs = undefined
        onRing()
      },
      Math.max(0, atMs - clock.monotonicNow()),
    )
  }
}
