// Whether the line has room, and whether anybody else keeps a queue on it, judged by bare round trips. Pure.

import { createQueueing, type QueueState } from './queueing.ts'

export interface LineRoom {
  /** Takes in the round trip measured since the last sample, if there was one. `lateMs`: how late the sample came; default 0. */
  add(roundTripMs: number | undefined, nowMs: number, lateMs?: number): void
  queue(): QueueState
  /** The least round trip of the last ten minutes, ms; undefined before the first. */
  leastMs(): number | undefined
  /** Takes in the rate at which the host took bytes for a while, bytes per second. */
  took(rate: number): void
  /**
   * Whether a host that takes this many bytes per second is this machine or next to it: it also answers that fast. Its line
   * seldom holds the rate: a processor or a disk does. Default: the most that it took.
   */
  isNear(rate?: number): boolean
  /** Round trips tell nothing: none was ever measured, or the host is near and no queue stands. */
  isDeaf(): boolean
  /** There was no queue a moment ago: the line could carry more. */
  hasRoom(): boolean
  /** There has been no queue for a while: nobody else uses the line, and more takes from no one. */
  isAlone(): boolean
  /** When there last was no queue, ms. */
  emptyAtMs(): number
}

/** A line that had no queue within this time has room, ms. */
const ROOM_MS = 1_500
/**
 * A line that had no queue for this long is nobody else's, ms. Queues of others shrink when they have lost packets, and stay
 * low for one or two seconds; where they were there before us, that low is the least that we know.
 */
const ALONE_MS = 2_500

/** The room of a line that nobody listens to. */
export const UNHEARD: LineRoom = {
  add: () => undefined,
  queue: () => 'unknown',
  leastMs: () => undefined,
  took: () => undefined,
  isNear: () => false,
  isDeaf: () => true,
  hasRoom: () => false,
  isAlone: () => false,
  emptyAtMs: () => -Infinity,
}

/**
 * A host is near when round trips are shorter than this, ms, and the rate is higher than this, bytes per second. What fills so
 * short a line at so high a rate takes no longer than any round trip waits: to see no queue there says nothing. A line that is
 * as short but takes less, to a host in the same town, is like any other.
 */
const NEAR_MS = 5
const NEAR_RATE = 200e6

/** A round trip waits for the processor twice: when it begins and when it ends. */
const WAITS = 2
/** At most so much of it is believed to be waiting for the processor, ms: a long queue is seen however busy the machine is. */
const MOST_WAITED_MS = 60

export function createLineRoom(): LineRoom {
  const queueing = createQueueing()
  let atMs = 0
  let queue: QueueState = 'unknown'
  let emptyAtMs = -Infinity
  let emptySinceMs: number | undefined
  let mostRate = 0
  const isNear = (rate = mostRate): boolean => (queueing.leastMs() ?? NEAR_MS) < NEAR_MS && rate > NEAR_RATE

  return {
    add(roundTripMs, nowMs, lateMs = 0) {
      atMs = nowMs
      if (roundTripMs !== undefined) {
        const lineMs = roundTripMs - Math.min(MOST_WAITED_MS, lateMs * WAITS)
        queueing.add(Math.max(lineMs, Math.min(roundTripMs, queueing.leastMs() ?? roundTripMs)), nowMs)
      }
      queue = queueing.state(nowMs)
      if (queue === 'empty') emptyAtMs = nowMs
      // One round trip that waited, or two, may have waited for a processor; a queue would hold up the third as well.
      const isStill = emptySinceMs !== undefined && queueing.isEmptyAtTimes(nowMs)
      emptySinceMs = queue === 'empty' || isStill ? (emptySinceMs ?? nowMs) : undefined
    },
    queue: () => queue,
    leastMs: () => queueing.leastMs(),
    took(rate) {
      mostRate = Math.max(mostRate, rate)
    },
    isNear,
    isDeaf: () => queueing.leastMs() === undefined || (isNear() && queue !== 'standing'),
    hasRoom: () => queue !== 'unknown' && !isNear() && atMs - emptyAtMs < ROOM_MS,
    isAlone: () => emptySinceMs !== undefined && !isNear() && atMs - emptySinceMs >= ALONE_MS,
    emptyAtMs: () => emptyAtMs,
  }
}
