// A clock for tests on real sockets, with which minutes pass in a moment.

import type { Clock } from '../../src/core/ports.ts'
import { systemClock } from '../../src/node.ts'

const BEAT_MS = 5
/** The most time that counts between two beats, ms. Even in an idle process a beat comes a little late. */
const LONGEST_BEAT_MS = 2 * BEAT_MS

/**
 * A clock that runs `speed` times as fast, for both the time it shows and the time it waits. It runs with this process,
 * not with the machine: while the process gets no processor, or blocks for long, next to no time passes. A busy machine
 * is therefore not taken for a silent far end or for a suspend. The far ends of such a test run in its process too.
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
