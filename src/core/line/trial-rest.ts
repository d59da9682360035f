// How long a number of parts is kept before another one is tried, and when round trips are worth measuring. Pure. The rest
// doubles while trials change nothing, so that a long upload on a steady line is left in peace.

export interface TrialRest {
  /** Begins a rest of at least this length, and doubles the next one. */
  begin(nowMs: number, atLeastMs: number): void
  /** Something has changed: the next rests are short again. */
  renew(): void
  /** Ends the current rest at this time, if it would last longer. */
  endBy(atMs: number): void
  isOver(nowMs: number): boolean
  /** When the present rest ends, ms. */
  endsAtMs(): number
  /** Rests are still so short that speed matters more than precision. */
  isHasty(): boolean
  /** Round trips are to be measured for a while, so that a rate can be explained. */
  listen(nowMs: number): void
  /** Whether round trips are to be measured: because of `listen`, or because a trial is near. */
  isListening(nowMs: number): boolean
}

const FIRST_REST_MS = 2_000
const LAST_REST_MS = 120_000
const HASTY_REST_MS = 4_000
/** How long before a trial round trips are measured. */
const CURIOUS_MS = 3_000
/** How long round trips are measured to explain a rate. */
const LISTEN_MS = 4_000

export function createTrialRest(): TrialRest {
  let nextMs = FIRST_REST_MS
  let untilMs = -Infinity
  let listenUntilMs = -Infinity

  return {
    begin(nowMs, atLeastMs) {
      untilMs = nowMs + Math.max(nextMs, atLeastMs)
      nextMs = Math.min(nextMs * 2, LAST_REST_MS)
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
