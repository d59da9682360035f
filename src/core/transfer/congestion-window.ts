// How many parts a host may have in flight at once, learnt from what it refuses. Pure: a congestion window as TCP keeps one.
// A few refusals among many answers say nothing of the number, and cost no more than their parts' own waits. With more of them each
// takes the slot of its part away, down to half of them in one round trip; so a host that takes eight at once has eight after the
// refusals of the first rounds. What is still refused when far fewer are in flight is refused by chance, such as by one broken
// server among several: so much is borne from then on, for fewer parts would get no fewer refusals. The way back, while nothing is
// refused, is a step a second that doubles, as far as one less than what was refused. That number is tried again, every time twice
// as late, and above it the steps go on. Where the last one is refused too, one goes after a pause, a second at most: a host that
// counts the requests of a second is asked as often as it takes them.

export interface CongestionWindow {
  /** How many more may start, where so many are in flight. */
  room(inFlight: number, nowMs: number): number
  /** When one may start again, where none may; undefined when one may, or others must end first. */
  dueMs(nowMs: number): number | undefined
  /** An attempt of then was answered, and not refused; so many others are in flight. */
  taken(beganAtMs: number, inFlight: number, nowMs: number): void
  /**
   * An attempt of then was refused or failed otherwise, and its part is to go again; so many others are in flight. `weight`: how much
   * of a refusal that is.
   */
  refused(beganAtMs: number, inFlight: number, nowMs: number, weight: number): void
}

/** Refusals that mean nothing: one for ten answers beside those by chance, and five in a row. */
const BEARABLE_SHARE = 0.1
const MOST_CREDIT = 5
/** How far below what drew refusals those that come are by chance, and what one answer weighs in their number. */
const FAR_BELOW = 0.75
const SAMPLE_WEIGHT = 1 / 24
const STEP_MS = 1_000
/** The pause doubles with each refusal, up to a step, and an answer halves it: a host that takes one at a time, so many a second, is asked twice for each. */
const SHORTEST_PAUSE_MS = 50
const ANSWER_SHORTENS = 0.5
/** Where the same number is refused again and again, it is tried after so many steps at last. */
const MOST_PATIENCE = 128

export function createCongestionWindow(): CongestionWindow {
  let size = Infinity
  /** What drew the last refusals, and what was left by them. */
  let peak = 0
  let cutTo = 0
  /** What drew the first of those since it grew. */
  let top = 0
  /** Refusals by chance for each answer. */
  let byChance = 0
  let credit = MOST_CREDIT
  /** Refusals of what began before this are those of one round trip. */
  let roundAtMs = -1
  /** The last change: what began before it says nothing of what it brought. */
  let changedAtMs = 0
  let growsAtMs = 0
  let step = 1
  let patience = 1
  let pauseMs = SHORTEST_PAUSE_MS

  const change = (next: number, nextStep: number, nowMs: number): void => {
    const isNearPeak = next === peak - 1
    size = next
    step = isNearPeak ? 1 : nextStep
    changedAtMs = nowMs
    growsAtMs = nowMs + (next < 1 ? pauseMs : isNearPeak ? patience * STEP_MS : STEP_MS)
  }
  /** With one part alone it is not its number: nothing is learnt of chance. */
  const sample = (beganAtMs: number, refusals: number): void => {
    if (beganAtMs <= changedAtMs || size !== cutTo || size < 2 || size > top * FAR_BELOW) return
    byChance += (refusals || -byChance) * SAMPLE_WEIGHT
  }

  return {
    // None at all is a pause, and one part is sent at its end.
    room: (inFlight, nowMs) => (size < 1 && nowMs >= growsAtMs ? 1 : size) - inFlight,
    dueMs: (nowMs) => (size < 1 && nowMs < growsAtMs ? growsAtMs : undefined),
    taken(beganAtMs, inFlight, nowMs) {
      sample(beganAtMs, 0)
      credit = Math.min(MOST_CREDIT, credit + BEARABLE_SHARE + byChance)
      pauseMs = Math.max(SHORTEST_PAUSE_MS, pauseMs * ANSWER_SHORTENS)
      // What is hardly used says nothing of more.
      if (nowMs < growsAtMs || beganAtMs < changedAtMs || inFlight < size / 2 - 1) return
      if (size >= peak) patience = 1
      change(size < peak - 1 ? Math.min(size + step, peak - 1) : size + step, step * 2, nowMs)
    },
    refused(beganAtMs, inFlight, nowMs, weight) {
      sample(beganAtMs, weight)
      if (credit >= weight) {
        credit -= weight
        return
      }
      if (beganAtMs > roundAtMs) {
        if (size === peak) patience = Math.min(patience * 2, MOST_PATIENCE)
        peak = size < Infinity ? size : inFlight + 1
        roundAtMs = nowMs
        if (size !== cutTo) top = peak
      }
      cutTo = Math.max(Math.floor(peak / 2), Math.min(size, inFlight))
      if (cutTo < 1) pauseMs = Math.min(pauseMs * 2, STEP_MS)
      change(cutTo, 1, nowMs)
    },
  }
}
