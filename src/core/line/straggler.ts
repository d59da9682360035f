// Finds the attempt that holds up the end of a session: one connection that crawls while its neighbours flew. Pure: about once
// a second it is told how far each attempt is, and it names at most one that should go again on a new connection.
//
// An attempt is judged only by seconds in which others sent too, and by what each of them carried then. So a line that is slow
// as a whole, or slow just now, blames nobody. That also bounds the resets: a part that goes again alone has no neighbours.

/** An attempt that is sending. It must be the same object each time. */
export interface Moving {
  readonly sentBytes: number
  readonly lengthBytes: number
}

export interface StragglerWatch<T extends Moving> {
  /**
   * Takes in how far the attempts are; a look within a second of the last one changes nothing. `isTail`: nothing else is left
   * to send, and slots are idle; only then an attempt is named. One whose whole body was handed over never is: it may be stored
   * already.
   */
  look(moving: readonly T[], nowMs: number, isTail: boolean): T | undefined
}

/** Looks that follow each other sooner are ignored, ms: in less time, a slow line moves nothing for anybody. */
const LOOK_EVERY_MS = 1_000
/** How long an attempt must have been compared, ms. */
const COMPARED_MS = 10_000
/** How many times less than its neighbours a straggler carries. */
const SLOWER = 4
/** Going again must take less than this share of what going on takes. */
const WORTH = 0.5
/** In how many looks in a row an attempt must seem slow. */
const LOOKS = 3
/** A longer gap between two looks means that the machine slept, ms. */
const GAP_MS = 5_000

interface History {
  lastBytes: number
  /** Time in which others sent too, and what this attempt and, on average, each of the others carried in it. */
  comparedMs: number
  ownBytes: number
  othersBytes: number
  suspectedLooks: number
}

/** `isSpared`: others are compared with such an attempt, but it is not named. Default: none is spared. */
export function createStragglerWatch<T extends Moving>(
  isSpared: (attempt: T) => boolean = () => false,
): StragglerWatch<T> {
  let histories = new Map<T, History>()
  let lastMs: number | undefined

  const compare = (moving: readonly T[], sinceMs: number): void => {
    const known = moving.flatMap((attempt) => {
      const history = histories.get(attempt)
      return history === undefined ? [] : [{ attempt, history, bytes: attempt.sentBytes - history.lastBytes }]
    })
    const sum = known.reduce((total, { bytes }) => total + bytes, 0)
    // Seconds in which nobody made progress say nothing about anybody.
    if (known.length < 2 || sum === 0 || sinceMs > GAP_MS) return
    for (const { history, bytes } of known) {
      history.comparedMs += sinceMs
      history.ownBytes += bytes
      history.othersBytes += (sum - bytes) / (known.length - 1)
    }
  }
  const isSlow = ({ sentBytes, lengthBytes }: T, { comparedMs, ownBytes, othersBytes }: History): boolean => {
    if (comparedMs < COMPARED_MS || ownBytes * SLOWER > othersBytes) return false
    const againMs = (lengthBytes / othersBytes) * comparedMs
    // 0 when all was handed over, or NaN when nothing moved besides: nothing is less, so going again is never worth it.
    const onMs = ((lengthBytes - sentBytes) / ownBytes) * comparedMs
    return againMs < onMs * WORTH
  }

  return {
    look(moving, nowMs, isTail) {
      if (lastMs !== undefined && nowMs - lastMs < LOOK_EVERY_MS) return undefined
      compare(moving, nowMs - (lastMs ?? nowMs))
      lastMs = nowMs
      histories = new Map(moving.map((attempt) => [attempt, { ...fresh, ...histories.get(attempt) }]))
      let worst: T | undefined
      let worstBytes = Infinity
      for (const [attempt, history] of histories) {
        history.lastBytes = attempt.sentBytes
        history.suspectedLooks =
          isTail && !isSpared(attempt) && isSlow(attempt, history) ? history.suspectedLooks + 1 : 0
        if (history.suspectedLooks < LOOKS || history.ownBytes >= worstBytes) continue
        worst = attempt
        worstBytes = history.ownBytes
      }
      return worst
    },
  }
}

const fresh: History = { lastBytes: 0, comparedMs: 0, ownBytes: 0, othersBytes: 0, suspectedLooks: 0 }
