// Clocks for tests on real sockets, by which what takes minutes takes a moment.

import type { Clock } from '../../src/core/ports.ts'
import { systemClock } from '../../src/node.ts'

/** From this length on a wait is a deadline, ms: the shortest is that of an end that is told, 15 s. */
const DEADLINE_MS = 15_000
const BEAT_MS = 5
/** What may go by between two beats, ms: an idle process hears them a little late. */
const LONGEST_BEAT_MS = 2 * BEAT_MS

/** The system's clock with every wait but a deadline a thousand times shorter: what waits by the rules still waits in order. */
export function hastyClock(): Clock {
  const clock = systemClock()
  return {
    ...clock,
    setTimeout: (callback, delayMs) => clock.setTimeout(callback, delayMs >= DEADLINE_MS ? delayMs : delayMs / 1_000),
  }
}

/**
 * A clock as if a second were only `1 / speed` of one: time read and time waited for agree. It runs with this process, and
 * not with the machine: while the process gets no processor, or is at work for long, next to no time goes by. A busy
 * machine is so not taken for a far end that is silent, nor for a sleep; the far ends of such a test run in its process.
 */
export function fastClock(speed: number): Clock {
  const system = systemClock()
  const startWallMs = system.wallNow()
  let nowAtBeatMs = 0
  let beatAtMs = system.monotonicNow()
  const now = (): number => nowAtBeatMs + Math.min(system.monotonicNow() - beatAtMs, LONGEST_BEAT_MS) * speed
  setInterval(() => {
    nowAtBeatMs = now()
    beatAtMs = system.monotonicNow()
  }, BEAT_MS).unref()

  return {
    wallNow: () => startWallMs + now(),
    monotonicNow: now,
    setTimeout(callback, delayMs) {
      const dueAtMs = now() + Math.max(0, delayMs)
      const timer: { system: unknown } = { system: undefined }
      const wait = (ms: number): void => void (timer.system = system.setTimeout(look, ms / speed))
      const look = (): void => (now() < dueAtMs ? wait(dueAtMs - now()) : callback())
      wait(delayMs)
      return timer
    },
    clearTimeout: (timer) => system.clearTimeout((timer as { system: unknown } | undefined)?.system),
  }
}
