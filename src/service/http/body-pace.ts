// How slowly a body may come. A client that sends a byte now and then never stalls, and would hold its connection and its
// half-written file for as long as it likes. It is judged over minutes, so that a phone on the worst of lines lives.

/** How long a body must have been slow, ms. */
const WINDOW_MS = 600_000

export interface BodyPace {
  /** Counts bytes. False once they came more slowly than allowed for ten minutes. A wait of our own is told by 0 bytes. */
  keepsUp(bytes: number): boolean
}

/** 0 bytes a second allow everything. `nowMs` is monotonic. */
export function bodyPace(leastBytesPerSecond: number, nowMs = () => performance.now()): BodyPace {
  let sinceMs = nowMs()
  let arrived = 0
  const beginAnew = (): void => {
    sinceMs = nowMs()
    arrived = 0
  }
  return {
    keepsUp(bytes) {
      if (bytes === 0) beginAnew()
      arrived += bytes
      const elapsedMs = nowMs() - sinceMs
      if (elapsedMs < WINDOW_MS) return true
      const isFastEnough = arrived * 1000 >= leastBytesPerSecond * elapsedMs
      beginAnew()
      return isFastEnough
    },
  }
}
