// How much of a window goes to the line at once: all of it on a fast line, little on a slow one. So progress is fine-grained,
// and a line that merely crawls is not taken for a stalled one, because a stall is judged by the slice.

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
/** A slice that takes less than QUICK_MS is too small, one that takes more than SLOW_MS too large. */
const QUICK_MS = 50
const SLOW_MS = 1_000

/** `maxBytes`: the size of the window. */
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
