// The first seconds of an upload: doubles the parts in flight every few round trips while the line has no queue, without
// waiting for rates that can be compared. Pure. A connection is slow in its first round trips however wide the line is, so
// waiting for each step to settle would cost more than a step too many.

import { BUFFER_BYTES } from './goodput.ts'
import type { QueueState } from './queueing.ts'

export interface EarlyGrowth {
  /** The limit from now on, given what happened since the last call; undefined once early growth has ended. */
  next(now: EarlySample, limit: number): number | undefined
}

export interface EarlySample {
  readonly atMs: number
  readonly bytesSince: number
  readonly partsDone: number
  readonly queue: QueueState
  /** Undefined while none was measured. */
  readonly leastRoundTripMs: number | undefined
  /** Whether a host that takes this many bytes per second is this machine or next to it. If so, that is kept. */
  isNear(rate: number): boolean
}

/** How many round trips a step is kept: connections are made in the first, and double three times in the others. */
const STEP_ROUND_TRIPS = 4
const LEAST_STEP_MS = 300
/** The least that a grown connection sends in a round trip, bytes: where it cannot, more of them cannot either. */
const LEAST_WINDOW_BYTES = 24 * 1024
/** The least factor that two doublings must bring: otherwise a limit of ours, a disk or a processor may hold the rate. */
const WORTH = 1.1
/**
 * What an answered part counts for at least where a near host is looked for, bytes: a small one takes as long to be answered. Of
 * four at once a near host then answers 800 a second, each within the five milliseconds that it may be away.
 */
const LEAST_PART_BYTES = 250_000
/** The parts to go to where so many small ones are answered: each turn of the process then takes several answers. */
const SMALL_PARTS = 16
/** How long to wait for the first round trips, some of which may be lost, and for any one at all, ms. */
const PATIENCE_MS = 3_000
const DEAF_MS = 1_500
/** A rate this far below that of the full line leaves room, whatever the queue was for a moment. */
const FALLEN = 0.85
/** After so long without a step, ms, limits are compared instead. A queue that stays so long is not that of young connections. */
const PAUSE_MS = 4_000

/** `nearLimit`: the number of parts that costs least where the host is near. Whether more bring more is measured afterwards. */
export function createEarlyGrowth(nearLimit: number): EarlyGrowth {
  let firstMs: number | undefined
  let beganMs = 0
  let lastMs = 0
  let grownAtMs = 0
  let settlingBytes = 0
  let filledRate = 0
  let bytes = 0
  let elapsedMs = 0
  let partsDone = 0
  let hasLeapt = false
  let isSilent = true
  const rates: number[] = []
  const begin = (nowMs: number): void => {
    beganMs = nowMs
    bytes = 0
    elapsedMs = 0
  }

  return {
    next({ atMs, bytesSince, partsDone: partsSince, queue, leastRoundTripMs, isNear }, limit) {
      isSilent &&= bytesSince === 0
      // Sources are still being opened, or proven, or empty: that time says nothing about the line.
      if (firstMs === undefined || isSilent) {
        firstMs = atMs
        lastMs = atMs
        grownAtMs = atMs
        settlingBytes = limit * BUFFER_BYTES
        begin(atMs)
      } else partsDone += partsSince
      const stepMs = Math.max(LEAST_STEP_MS, STEP_ROUND_TRIPS * (leastRoundTripMs ?? 0))
      const passedMs = atMs - beganMs
      // New connections first fill the buffers of the system; that is no rate.
      settlingBytes -= bytesSince
      if (passedMs > stepMs / 2 && settlingBytes <= 0) {
        bytes += bytesSince
        elapsedMs += atMs - lastMs
      }
      lastMs = atMs
      if (queue === 'unknown') {
        return atMs - firstMs < (leastRoundTripMs === undefined ? DEAF_MS : PATIENCE_MS) ? limit : undefined
      }
      if (hasLeapt || atMs - grownAtMs > PAUSE_MS) return undefined
      // Only bytes can lie in buffers: what was answered has arrived.
      const isEmpty = queue === 'empty'
      const isSmall = isEmpty && isNear(((partsDone * LEAST_PART_BYTES) / (atMs - firstMs)) * 1_000)
      hasLeapt = isSmall || (isEmpty && isNear((bytes / elapsedMs) * 1_000))
      if (hasLeapt) return Math.max(limit, isSmall ? SMALL_PARTS : nearLimit)
      if (passedMs < stepMs || elapsedMs < stepMs / 2) return limit
      const rate = bytes / elapsedMs
      begin(atMs)
      if (queue === 'standing') {
        // Young connections fill any line for a moment, but what it carries then, it can carry.
        filledRate = Math.max(filledRate, rate)
        rates.length = 0
        return limit
      }
      if (rate > filledRate * FALLEN && rate * FALLEN < filledRate) return limit
      rates.push(rate)
      const gain = rate / (rates.at(-3) ?? Infinity)
      if (gain < WORTH && gain > 1 / WORTH) return undefined
      if ((rate / limit) * (leastRoundTripMs ?? 0) < LEAST_WINDOW_BYTES) return limit
      grownAtMs = atMs
      settlingBytes = limit * BUFFER_BYTES
      return limit * 2
    },
  }
}
