// How many parts a host may have in flight at once, learnt from what it refuses. Pure: a congestion window like TCP's.
//
// A few refusals among many answers say nothing about that number; they cost no more than the waits of their own parts. When
// there are more, each takes away the slot of its part, down to half of the slots in one round trip. So a host that takes eight
// at once is sent eight after the refusals of the first rounds.
//
// What is still refused when far fewer are in flight is refused by chance, such as by one broken server among several. From
// then on that many refusals are tolerated, because fewer parts would get no fewer of them.
//
// While nothing is refused, the window grows back by a step a second, each step twice the last, up to one less than the number
// that was refused. That number is tried again, each time after twice the wait; above it, the steps go on.
//
// Where a single part is refused too, one goes after a pause of a second at most. So a host that limits requests per second is
// asked as often as it takes them.

export interface CongestionWindow {
  /** How many more attempts may start while this many are in flight. */
  room(inFlight: number, nowMs: number): number
  /** When an attempt may start again, ms; undefined when one may start now, or when others must end first. */
  dueMs(nowMs: number): number | undefined
  /** An attempt that began at `beganAtMs` was answered and not refused, while `inFlight` others are under way. */
  taken(beganAtMs: number, inFlight: number, nowMs: number): void
  /**
   * An attempt that began at `beganAtMs` was refused or failed otherwise, and its part is to go again. `weight`: how much of a
   * refusal that is, up to 1.
   */
  refused(beganAtMs: number, inFlight: number, nowMs: number, weight: number): void
}

/** Refusals that are tolerated: one for every ten answers, besides those by chance, and at most five in a row. */
const BEARABLE_SHARE = 0.1
const MOST_CREDIT = 5
/**
 * At or below FAR_BELOW of the number that first drew refusals, they count as chance. SAMPLE_WEIGHT is the weight of one answer
 * in that estimate.
 */
const FAR_BELOW = 0.75
const SAMPLE_WEIGHT = 1 / 24
const STEP_MS = 1_000
/**
 * The pause doubles with each refusal, up to a step, and each answer halves it. A host that takes one part at a time, so many a
 * second, is thus asked twice for each.
 */
const SHORTEST_PAUSE_MS = 50
const ANSWER_SHORTENS = 0.5
/** A number that is refused again and again is tried after at most this many steps. */
const MOST_PATIENCE = 128

export function createCongestionWindow(): CongestionWindow {
  let size = Infinity
  /** The size that drew the last refusals, and the size that they left. */
  let peak = 0
  let cutTo = 0
  /** The size that drew the first refusals since the window last grew. */
  let top = 0
  /** Estimate of the refusals by chance for each answer. */
  let byChance = 0
  let credit = MOST_CREDIT
  /** Refusals of attempts that began before this time belong to one round trip. */
  let roundAtMs = -1
  /** When the size last changed. An attempt that began before says nothing about the new size. */
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
  /** Learns how much is refused by chance. With one part alone, the number is not the cause, and nothing is learnt. */
  const sample = (beganAtMs: number, refusals: number): void => {
    if (beganAtMs <= changedAtMs || size !== cutTo || size < 2 || size > top * FAR_BELOW) return
    byChance += (refusals || -byChance) * SAMPLE_WEIGHT
  }

  return {
    // A size of 0 is a pause; at its end, one part may go.
    room: (inFlight, nowMs) => (size < 1 && nowMs >= growsAtMs ? 1 : size) - inFlight,
    dueMs: (nowMs) => (size < 1 && nowMs < growsAtMs ? growsAtMs : undefined),
    taken(beganAtMs, inFlight, nowMs) {
      sample(beganAtMs, 0)
      credit = Math.min(MOST_CREDIT, credit + BEARABLE_SHARE + byChance)
      pauseMs = Math.max(SHORTEST_PAUSE_MS, pauseMs * ANSWER_SHORTENS)
      // A window that is hardly used says nothing about a larger one.
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
