// How many parts a rate limit keeps busy. Pure. With a limit of ours, more parts at once send nothing more: each only takes
// longer, and what has no receipt yet is sent again after a kill, a closed lid or a pause. So there are as few as reach the limit.

import type { ConcurrencySample } from './concurrency-sample.ts'

export interface EnoughParts {
  /** The most parts in flight at this limit, bytes per second. Infinity without a limit. */
  at(bytesPerSecond: number | undefined): number
  onSample(sample: Pick<ConcurrencySample, 'atMs' | 'inFlight' | 'bytesSince'>): void
  /** Nothing was sent for a while, or will be: the rate is measured anew. */
  restart(): void
}

/** With two, the line is not idle while the answer to one is awaited, and no single part holds up all others. */
const LEAST = 2
/** What a connection is expected to carry until the line shows otherwise, bytes per second. */
const CONNECTION_RATE = 256 * 1024
/** How long a rate is measured, ms. */
const MEASURE_MS = 2_000
/** Where it took longer than this, ms, the machine slept. */
const LONGEST_MEASURE_MS = 4_000
/** The share of the limit that must be reached. Where answers are waited for, the last tenth is not worth twice the parts. */
const REACHED = 0.9
/** How much more is tried where too little goes: a far line with losses, or small files whose answers take long. */
const GROWTH = 1.5
/** After so many rates that reached it, fewer are tried: those added while the line was slow for a moment would stay. */
const CALM = 30

export function createEnoughParts(): EnoughParts {
  let limit: number | undefined
  let first = Infinity
  let enough = Infinity
  let sinceMs: number | undefined
  let bytes = 0
  let areAllUsed = true
  let calm = 0
  const restart = (nowMs?: number): void => {
    sinceMs = nowMs
    bytes = 0
    areAllUsed = true
  }
  const change = (next: number): void => {
    enough = next
    calm = 0
  }

  return {
    at(bytesPerSecond) {
      if (bytesPerSecond === limit) return enough
      limit = bytesPerSecond
      first = limit === undefined ? Infinity : Math.max(LEAST, Math.floor(limit / CONNECTION_RATE))
      change(first)
      restart()
      return enough
    },
    onSample({ atMs, inFlight, bytesSince }) {
      if (limit === undefined || sinceMs === undefined) {
        restart(atMs)
        return
      }
      bytes += bytesSince
      // Slots that are not used say nothing about what more of them would bring.
      areAllUsed &&= inFlight >= enough
      const passedMs = atMs - sinceMs
      if (passedMs < MEASURE_MS) return
      const isReached = bytes >= (REACHED * limit * passedMs) / 1_000
      if (isReached && inFlight <= enough) calm += 1
      if (calm >= CALM) change(Math.max(first, Math.ceil(enough / GROWTH)))
      // Where nothing went at all, the line is away.
      const isTooSlow = bytes > 0 && !isReached && passedMs <= LONGEST_MEASURE_MS
      if (isTooSlow && areAllUsed) change(Math.ceil(enough * GROWTH))
      restart(atMs)
    },
    restart: () => restart(),
  }
}
