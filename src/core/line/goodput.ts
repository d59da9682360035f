// Bytes per second over enough time to be compared. The moments after a change are left out: young connections fill the buffers
// of the system before they fill the line, and those bytes say nothing about it.

import type { ConcurrencySample } from './concurrency-sample.ts'

export interface Goodput {
  /** The limit has changed: measures anew, once this many new connections have filled their buffers. */
  restart(nowMs: number, newConnections: number): void
  /** Bytes per second since the restart or the last answer; undefined until enough was seen. */
  add(sample: ConcurrencySample, sinceMs: number, limit: number, isHasty: boolean): number | undefined
}

/** At least until connections are made and have sent more than their first packets. */
const SETTLE_MS = 300
const LONGEST_SETTLE_MS = 3_000
/** What a system takes at once for a young connection, bytes; Linux begins near this and grows with the connection's rate. */
export const BUFFER_BYTES = 256 * 1024
const MEASURE_MS = 1_000
/** While nothing is known, speed matters more than precision. */
const HASTY_MEASURE_MS = 500
/** Measures longer while samples differ much: until their mean is likely to be within this share of the truth. */
const VAGUENESS = 0.08
const LONGEST_MEASURE_MS = 2_500

export function createGoodput(): Goodput {
  let settlingSinceMs = -Infinity
  let settlingBytes = 0
  let bytes = 0
  let elapsedMs = 0
  let parts = 0
  let squares = 0
  let count = 0
  /** Bytes are reported as they go, not only when a part has ended. */
  let isLive = false
  const clear = (): void => {
    bytes = 0
    elapsedMs = 0
    parts = 0
    squares = 0
    count = 0
  }
  const isSettled = (beganMs: number): boolean => {
    const settledMs = beganMs - settlingSinceMs
    return settledMs >= LONGEST_SETTLE_MS || (settledMs >= SETTLE_MS && settlingBytes <= 0)
  }

  /** Whether the mean may be too far from the truth: samples of bytes that come in bursts say little. */
  const isVague = (): boolean => {
    const mean = bytes / count
    const variance = squares / count - mean * mean
    return variance > count * (mean * VAGUENESS) ** 2
  }

  return {
    restart(nowMs, newConnections) {
      settlingSinceMs = nowMs
      settlingBytes = newConnections * BUFFER_BYTES
      clear()
    },
    add(sample, sinceMs, limit, isHasty) {
      isLive ||= sample.bytesSince > 0 && sample.partsDone === 0
      if (!isSettled(sample.atMs - sinceMs)) {
        settlingBytes -= sample.bytesSince
        return undefined
      }
      bytes += sample.bytesSince
      squares += sample.bytesSince ** 2
      count += 1
      elapsedMs += sinceMs
      parts += sample.partsDone
      // A rate of whole parts needs all slots to turn over twice.
      if (elapsedMs < (isHasty ? HASTY_MEASURE_MS : MEASURE_MS) || (!isLive && parts < limit * 2)) return undefined
      if (!isHasty && isVague() && elapsedMs < LONGEST_MEASURE_MS) return undefined
      const rate = (bytes / elapsedMs) * 1000
      clear()
      return rate
    },
  }
}
