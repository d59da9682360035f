// How fast bytes move, and how long the rest takes at that rate. The whole and each file use the same meter, so that their
// numbers can be compared.

export interface RateMeter {
  add(bytes: number, nowMs: number): void
  /** 0 until enough time was seen to tell. */
  bytesPerSecond(nowMs: number): number
  /** Whether nothing has moved for so long that the fading rate says nothing about the time left. */
  isStill(nowMs: number): boolean
}

/** What happened this long ago counts 1/e of what happens now. */
const MEMORY_MS = 5_000
/** There is no rate before this much time was seen, ms: one second, faded. */
const FIRST_LOOK_MS = 900

/**
 * A fading average: bytes and time fade alike, so that a young meter is right from its first second on. Time counts from the
 * first bytes, because before them there was nothing to measure.
 */
export function createRateMeter(): RateMeter {
  let lastMs: number | undefined
  let movedMs = 0
  let bytes = 0
  let elapsedMs = 0
  const fade = (nowMs: number): void => {
    const sinceMs = Math.max(0, nowMs - (lastMs ?? nowMs))
    lastMs = Math.max(nowMs, lastMs ?? nowMs)
    const share = Math.exp(-sinceMs / MEMORY_MS)
    bytes *= share
    // The integral of the fading weight over the elapsed time.
    elapsedMs = elapsedMs * share + MEMORY_MS * (1 - share)
  }
  return {
    add(added, nowMs) {
      if (added === 0) return
      // The first bytes only start the clock: how long they took is unknown.
      const counted = lastMs === undefined ? 0 : added
      fade(nowMs)
      bytes += counted
      movedMs = nowMs
    },
    bytesPerSecond(nowMs) {
      if (lastMs === undefined) return 0
      fade(nowMs)
      return elapsedMs < FIRST_LOOK_MS ? 0 : (bytes / elapsedMs) * 1000
    },
    isStill: (nowMs) => nowMs - movedMs > MEMORY_MS,
  }
}

/** Time left in ms: 0 when nothing is left, undefined when nothing moves. */
export function timeLeft(bytesLeft: number, bytesPerSecond: number): number | undefined {
  if (bytesLeft === 0) return 0
  // Below a byte a second nothing moves, and a number would be a fairy tale.
  return bytesPerSecond < 1 ? undefined : Math.ceil((bytesLeft / bytesPerSecond) * 1000)
}
