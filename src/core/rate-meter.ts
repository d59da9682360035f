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
/** Several parts begin within this time, ms. */
const FIRST_BYTES_MS = 200

/**
 * A fading average: bytes and time fade alike, so that a young meter is right from its first second on. Time counts from the
 * first bytes, because before them there was nothing to measure.
 */
export function createRateMeter(): RateMeter {
  let lastMs = 0
  let firstMs: number | undefined
  let movedMs = 0
  let bytes = 0
  let elapsedMs = 0
  const fade = (nowMs: number): void => {
    const sinceMs = Math.max(0, nowMs - lastMs)
    lastMs += sinceMs
    const share = Math.exp(-sinceMs / MEMORY_MS)
    bytes *= share
    // The integral of the fading weight over the elapsed time.
    elapsedMs = elapsedMs * share + MEMORY_MS * (1 - share)
  }
  return {
    add(added, nowMs) {
      if (added === 0) return
      fade(nowMs)
      bytes += added
      movedMs = nowMs
      // The first bytes, of each part that begins with them, only start the clock: they come at once out of buffers.
      if (nowMs - (firstMs ??= nowMs) < FIRST_BYTES_MS) bytes = elapsedMs = 0
    },
    bytesPerSecond(nowMs) {
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
