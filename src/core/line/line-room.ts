// Whether the line has room, from bare round trips: for whom a queue would be, and whether anybody else keeps one. Pure.

import { createQueueing, HARMLESS_MS, type QueueState } from './queueing.ts'

export interface LineRoom {
  /**
   * Takes in what a sample brought: the round trip measured since the last one, if any. `lateMs`: how late the sample came;
   * default 0.
   */
  add(roundTripMs: number | undefined, nowMs: number, lateMs?: number): void
  queue(): QueueState
  /** The least round trip of late, ms; undefined before the first. */
  leastMs(): number | undefined
  /** The host is so near that its line is seldom what holds the rate: a processor does, or a disk. */
  isNear(): boolean
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
  isNear: () => false,
  isDeaf: () => true,
  hasRoom: () => false,
  isAlone: () => false,
  emptyAtMs: () => -Infinity,
}

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
  /** What fills so short a line is no longer than what any round trip waits: to see no queue there says nothing. */
  const isShort = (): boolean => (queueing.leastMs() ?? 0) < HARMLESS_MS

  return {
    add(roundTripMs, nowMs, lateMs = 0) {
      atMs = nowMs
      if (roundTripMs !== undefined) {
        const lineMs = roundTripMs - Math.min(MOST_WAITED_MS, lateMs * WAITS)
        queueing.add(Math.max(lineMs, Math.min(roundTripMs, queueing.leastMs() ?? roundTripMs)), nowMs)
      }
      queue = queueing.state(nowMs)
      const isEmpty = queue === 'empty' && !isShort()
      if (isEmpty) emptyAtMs = nowMs
      // A round trip that waited, or two, may have waited for a processor; a queue would hold up the third as well.
      const isStill = emptySinceMs !== undefined && queueing.isEmptyAtTimes(nowMs)
      emptySinceMs = isEmpty || isStill ? (emptySinceMs ?? nowMs) : undefined
    },
    queue: () => queue,
    leastMs: () => queueing.leastMs(),
    isNear: () => queueing.leastMs() !== undefined && isShort(),
    isDeaf: () => isShort() && queue !== 'standing',
    hasRoom: () => queue !== 'unknown' && atMs - emptyAtMs < ROOM_MS,
    isAlone: () => emptySinceMs !== undefined && atMs - emptySinceMs >= ALONE_MS,
    emptyAtMs: () => emptyAtMs,
  }
}
