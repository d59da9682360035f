// How much of a window goes to the line at once. On a fast line all of it; on a slow one little, so that progress is fine
// and a line that merely crawls is not taken for a stalled one: a slice is what a stall is judged by.

import type { Clock } from '../ports.ts'

export interface Slicer {
  /** Bytes of the next slice. */
  size(): number
  /** A slice is offered to the line. */
  began(): void
  /** The line took it. */
  ended(): void
}

const FIRST_BYTES = 65_536
const LEAST_BYTES = 16_384
/** A slice that takes less is too small, one that takes more too large. */
const QUICK_MS = 50
const SLOW_MS = 1_000

/** `maxBytes`: the window. */
export function createSlicer(clock: Pick<Clock, 'monotonicNow'>, maxBytes: number): Slicer {
  let bytes = Math.min(FIRST_BYTES, maxBytes)
  let beganAtMs = 0
  return {
    size: () => bytes,
    began() {
      beganAtMs = clock.monotonicNow()
    },
    ended() {
      const tookMs = clock.monotonicNow() - beganAtMs
      if (tookMs < QUICK_MS) bytes = Math.min(bytes * 2, maxBytes)
      else if (tookMs > SLOW_MS) bytes = Math.max(Math.floor(bytes / 2), Math.min(LEAST_BYTES, maxBytes))
    },
  }
}
