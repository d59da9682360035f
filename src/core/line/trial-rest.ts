// How long a number of parts is kept before another one is tried, and when round trips are worth measuring. Pure. The rest
// doubles while trials change nothing, so that a long upload on a steady line is left in peace.

export interface TrialRest {
  /** Begins a rest, and doubles the next. Returns how long it is, ms. */
  begin(nowMs: number, atLeastMs: number): number
  /** Something has changed: the next rests are short again. */
  renew(): void
  /** Ends the present rest by then, if it would last longer. */
  endBy(atMs: number): void
  isOver(nowMs: number): boolean
  /** When the present rest ends, ms. */
  endsAtMs(): number
  /** Limits are kept for so short only that speed matters more than precision. */
  isHasty(): boolean
  /** Round trips are to be measured for a while: a rate is to be explained. */
  listen(nowMs: number): void
  /** Whether they are: because of `listen`, or because a trial is near. */
  isListening(nowMs: number): boolean
}

const FIRST_REST_MS = 2_000
const LAST_REST_MS = 120_000
const HASTY_REST_MS = 4_000
/** Round trips are measured so long before a trial. */
const CURIOUS_MS = 3_000
/** Round trips are measured for so long when a rate is to be explained. */
const LISTEN_MS = 4_000

export function createTrialRest(): TrialRest {
  let nextMs = FIRST_REST_MS
  let untilMs = -Infinity
  let listenUntilMs = -Infinity

  return {
    begin(nowMs, atLeastMs) {
      const lengthMs = Math.max(nextMs, atLeastMs)
      untilMs = nowMs + lengthMs
      nextMs = Math.min(nextMs * 2, LAST_REST_MS)
      return lengthMs
    },
    renew() {
      nextMs = FIRST_REST_MS
    },
    endBy(atMs) {
      untilMs = Math.min(untilMs, atMs)
    },
    isOver: (nowMs) => nowMs >= untilMs,
    endsAtMs: () => untilMs,
    isHasty: () => nextMs <= HASTY_REST_MS,
    listen(nowMs) {
      listenUntilMs = nowMs + LISTEN_MS
    },
    isListening: (nowMs) => nowMs < listenUntilMs || nowMs >= untilMs - CURIOUS_MS,
  }
}
