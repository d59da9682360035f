// Whether the line has room, from bare round trips: for whom a queue would be, and whether anybody else keeps one. Pure.

import { createQueueing, type QueueState } from './queueing.ts'

export interface LineRoom {
  /**
   * Takes in what a sample brought: the round trip measured since the last one, if any. `lateMs`: how late the sample came;
   * default 0.
   */
  add(roundTripMs: number | undefined, nowMs: number, lateMs?: number): void
  queue(): QueueState
  /** The least round trip of late, ms; undefined before the first. */
  leastMs(): number | undefined
  /** Takes in what the host took for a while, bytes a second. */
  took(rate: number): void
  /**
   * Whether a host that takes so much, bytes a second, is this machine or beside it: it answers as soon. Its line is seldom what
   * holds the rate: a processor does, or a disk. Default: the most that it took.
   */
  isNear(rate?: number): boolean
  /** Nothing is heard: no round trip was ever measured, or the host is near and no queue stands. */
  isDeaf(): boolean
  /** There was no queue a moment ago: the line could carry more. */
  hasRoom(): boolean
  /** There has been no queue for a while: the line is nobody else's, and more takes from no one. */
  isAlone(): boolean
  /** When there was no queue last, ms. */
  emptyAtMs(): number
}

/** A line that had no queue so lately has room. */
const ROOM_MS = 1_500
/**
 * One that had none for so long is nobody else's. Queues of others shrink when they have lost packets, and stay low for one or
 * two seconds; where they were there before us, that is the least that we know.
 */
const ALONE_MS = 2_500

/** Of a line that nobody listens to. */
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
 * What fills so short a line, ms, at so high a rate, bytes a second, is no longer than what any round trip waits: to see no queue
 * there says nothing. A line as short that takes less, to a host in the same town, is like any other.
 */
const NEAR_MS = 5
const NEAR_RATE = 200e6

/** A round trip waits for the processor when it begins and when it ends. */
const WAITS = 2
/** Of what was waited for the processor so much is believed, ms: a long queue is seen however busy the machine is. */
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
      // A round trip that waited, or two, may have waited for a processor; a queue would hold up the third as well.
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
