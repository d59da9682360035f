// How many parts may be in flight, found by trying: more as long as more brings more, half when the storage says that it
// is too much. Pure: it learns from samples and answers with a number. No fixed number is right: a long lossy line
// wants sixty-four connections, a short clean one two, and each more would only delay everyone else's traffic.
//
// It doubles while the line has no queue. Later it measures the present limit, tries another, keeps what was better, and
// rests between trials. It never tries more while a queue stays: the line is full, and more would take from others. Young
// connections carry much more than they can keep up once they have lost packets, so a rate that falls on a line without a
// queue is the sign to try more at once, and one that rises that the line has changed.

import { createEarlyGrowth, type EarlyGrowth } from './early-growth.ts'
import { invalid } from './errors.ts'
import { createGoodput } from './goodput.ts'
import { createQueueing } from './queueing.ts'

export type ConcurrencyOptions =
  | {
      /** Default 1. */
      readonly min?: number
      /** Default 4. */
      readonly start?: number
      /** Default 64. */
      readonly max?: number
    }
  | { readonly fixed: number }

/** What happened since the last sample; ten a second show more than one. */
export interface ConcurrencySample {
  /** On a clock that does not jump back, ms. */
  readonly atMs: number
  /** Parts in flight now. */
  readonly inFlight: number
  /** Bytes handed to the network, as they go; counted only at the end of parts, it takes longer to see anything. */
  readonly bytesSince: number
  readonly partsDone: number
  /** Answers that said "too much": 429, 503, SlowDown. */
  readonly throttles: number
  /** Attempts that got no answer. */
  readonly failures: number
  /** A bare round trip measured since the last sample, ms; undefined when none was. */
  readonly roundTripMs?: number | undefined
}

export interface Concurrency {
  /** Parts that may be in flight now. */
  limit(): number
  onSample(sample: ConcurrencySample): void
  /** Whether a round trip measured now would be of use: a trial is near or under way. */
  isCurious(): boolean
}

/** A trial upwards: while nothing is known, when the rate has fallen, and otherwise. */
const EARLY_GROWTH = 2
const FALL_GROWTH = 2
const LATE_GROWTH = 1.25
const SHRINKAGE = 1.25
/**
 * More bytes a second that a trial upwards must bring: so much of what it would on a line that has room, as a power. Others
 * share the line if it brings less: the third connection beside two others gets a third, which they lose.
 */
const WORTH = 0.4
/** The same while the line has no queue, as a factor: then nobody loses what we gain. */
const WORTH_IF_EMPTY = 1.03
/** Share of the bytes a second that a trial downwards must keep. */
const KEPT = 0.98
/** The same for a large step upwards while the queue is not full. */
const LENIENCY = 0.6
/** A rate this far from the usual one is another line. */
const FALLEN = 0.88
const RISEN = 1.2
/** The same, of the most that it carried. */
const FAR_FALLEN = 0.75
/** A line that had no queue so lately has room. */
const ROOM_MS = 1_500
/** One that had none for so long is nobody else's. */
const ALONE_MS = 1_000
/** How fast the usual rate follows the present one. */
const FOLLOW = 0.1
/** How long a limit is kept before a trial; doubles while trials change nothing. */
const FIRST_REST_MS = 2_000
const LAST_REST_MS = 120_000
/** While limits are kept for so short only, speed matters more than precision. */
const HASTY_REST_MS = 4_000
/** Round trips are measured so long before a trial; after a sign that the line has changed there is less time. */
const CURIOUS_MS = 1_500
const LOOK_MS = 400
/** Round trips are measured for so long when a rate is to be explained. */
const LISTEN_MS = 2_000
/** A trial downwards costs more when it fails, because what is in flight must end first: not before such a rest. */
const CALM_REST_MS = 30_000
/** A storage that complained is left alone for a while. */
const THROTTLED_REST_MS = 15_000
/** Answers to what was in flight before a halving do not halve again. */
const HALVING_MS = 3_000
/** A longer gap between samples is a machine asleep. */
const GAP_MS = 5_000

/**
 * Makes a controller: `fixed` keeps one number, the other form finds its own between `min` and `max`. Throws
 * ERR_UPLOAD_INVALID_ARGUMENT unless 1 ≤ min ≤ start ≤ max, all whole.
 */
export function createConcurrency(options: ConcurrencyOptions = {}): Concurrency {
  if ('fixed' in options) {
    check([1, options.fixed])
    return { limit: () => options.fixed, onSample: () => undefined, isCurious: () => false }
  }
  const max = options.max ?? 64
  const min = options.min ?? Math.min(1, max)
  const start = options.start ?? Math.min(Math.max(4, min), max)
  check([1, min, start, max])
  return createController(min, start, max)
}

function check(ascending: readonly number[]): void {
  if (ascending.some((value, index) => !Number.isInteger(value) || value < (ascending[index - 1] ?? 1))) {
    invalid(`Concurrency needs whole numbers, 1 ≤ min ≤ start ≤ max, not ${ascending.slice(1).join(', ')}.`)
  }
}

interface Trial {
  /** What to go back to, and what it brought. */
  readonly fromLimit: number
  readonly fromRate: number
  /** It began after a fall on a line without a queue: a queue at its end is our own. */
  readonly isAlone: boolean
}

function createController(min: number, start: number, max: number): Concurrency {
  let limit = start
  let trial: Trial | undefined
  /** What the present limit usually brings; undefined until it was measured. */
  let usualRate: number | undefined
  /** Below what was too much lately; it rises with every long rest, because storages grow too. */
  let ceiling = max
  let growth = EARLY_GROWTH
  let isEarly = true
  /** Doubling without measuring, while that is possible. */
  let early: EarlyGrowth | undefined = createEarlyGrowth()
  /** The most that a limit brought and kept up for a moment; less says that connections have lost packets. */
  let bestRate = 0
  /** More brought nothing, or little for what it was: fewer may do as well. */
  let isSaturated = false
  let nextDirection: 'up' | 'down' = 'up'
  /** When the line had no queue last. */
  let emptyAtMs = -Infinity
  /** Since when it has had none at all. */
  let emptySinceMs: number | undefined
  let curiousUntilMs = -Infinity
  let restMs = FIRST_REST_MS
  let restUntilMs = -Infinity
  let halvedAtMs = -Infinity
  let lastMs: number | undefined
  const goodput = createGoodput()
  const queueing = createQueueing()

  const up = (): number => Math.min(Math.max(limit + 1, Math.floor(limit * growth)), max, ceiling)
  const down = (): number => Math.min(limit, Math.max(min, 2, Math.floor(limit / SHRINKAGE)))
  const moveTo = (next: number, nowMs: number): void => {
    goodput.restart(nowMs, Math.max(0, next - limit))
    limit = next
  }
  const rest = (nowMs: number, atLeastMs = 0): void => {
    growth = LATE_GROWTH
    isEarly = false
    early = undefined
    const lengthMs = Math.max(restMs, atLeastMs, nextDirection === 'down' ? CALM_REST_MS : 0)
    restUntilMs = nowMs + lengthMs
    if (lengthMs >= THROTTLED_REST_MS) ceiling = Math.min(max, ceiling + Math.ceil(ceiling / 8))
    restMs = Math.min(restMs * 2, LAST_REST_MS)
  }
  const isAlone = (nowMs: number): boolean => emptySinceMs !== undefined && nowMs - emptySinceMs >= ALONE_MS
  /** Starts a trial, if that is another limit. */
  const begin = (next: number, rate: number, nowMs: number): boolean => {
    if (next === limit || rate === 0) return false
    trial = { fromLimit: limit, fromRate: rate, isAlone: isAlone(nowMs) }
    moveTo(next, nowMs)
    return true
  }
  const end = ({ fromLimit, fromRate, isAlone: wasAlone }: Trial, rate: number, nowMs: number): void => {
    trial = undefined
    const isUp = limit > fromLimit
    const isKnown = queueing.state(nowMs) !== 'unknown'
    const hasRoom = isKnown && nowMs - emptyAtMs < ROOM_MS
    // Young connections fill any line for a moment, so a large step that brought nothing says little. Going back would
    // often be wrong: on a line that is nobody else's it is kept.
    const isLenient = isUp && growth > LATE_GROWTH && wasAlone
    const worth = hasRoom ? WORTH_IF_EMPTY : (limit / fromLimit) ** WORTH
    const hasGained = rate >= fromRate * (isUp ? worth : KEPT) && (isUp || !hasRoom)
    const isKept = hasGained || (isLenient && rate >= fromRate * LENIENCY)
    bestRate = hasGained && isUp ? Math.max(bestRate, rate) : rate
    // A step upwards that brought less than half of its share has met the end of the line: the next would overshoot.
    const isFull = isUp && !hasRoom && rate < fromRate * (1 + (limit / fromLimit - 1) / 2)
    if (isUp) isSaturated = isFull
    nextDirection = isKept === isUp && !isFull ? 'up' : 'down'
    // What young connections carried is not usual; what a limit brought before, it is to bring again.
    usualRate = isKept ? undefined : fromRate
    // The next step is as large as what this one brought, so that it does not pass the end of the line by much.
    if (isUp) growth = Math.min(growth, Math.max(LATE_GROWTH, rate / fromRate))
    if (isKept) restMs = FIRST_REST_MS
    else moveTo(fromLimit, nowMs)
    if (isKept && !isFull && begin(isUp ? up() : down(), rate, nowMs)) return
    rest(nowMs)
  }
  const halve = (nowMs: number): void => {
    if (nowMs - halvedAtMs < HALVING_MS) return
    halvedAtMs = nowMs
    // A trial that drew the complaint began at a limit that drew none; half of the present one is safe for both.
    trial = undefined
    usualRate = undefined
    nextDirection = 'up'
    isSaturated = false
    restMs = FIRST_REST_MS
    const tooMuch = limit
    moveTo(Math.max(min, Math.floor(limit / 2)), nowMs)
    rest(nowMs, THROTTLED_REST_MS)
    ceiling = Math.max(limit, Math.floor(tooMuch * 0.75))
  }
  /** Between trials: whether the line is still the same, and whether it is time for another one. */
  const watch = (rate: number, nowMs: number): void => {
    const usual = usualRate ?? rate
    const isDeaf = queueing.leastMs() === undefined
    const isOther = rate < usual * FALLEN || rate > usual * RISEN
    if (!isDeaf && queueing.state(nowMs) === 'unknown' && (isOther || nowMs >= restUntilMs)) {
      // Nobody has listened of late: the next rates are judged with round trips beside them.
      curiousUntilMs = nowMs + LISTEN_MS
      return
    }
    const hasRoom = isDeaf || nowMs - emptyAtMs < ROOM_MS
    // Another rate while there is a queue says that others came or went, not that the line is another.
    bestRate = Math.max(bestRate, rate)
    const hasFallen = rate < Math.max(usual * FALLEN, isDeaf ? 0 : bestRate * FAR_FALLEN)
    usualRate = usual + (rate - usual) * FOLLOW
    if ((isDeaf || isAlone(nowMs)) && (hasFallen || rate > usual * RISEN)) {
      usualRate = rate
      restMs = FIRST_REST_MS
      restUntilMs = Math.min(restUntilMs, nowMs + LOOK_MS)
      nextDirection = 'up'
      growth = FALL_GROWTH
      // What cannot go up any more, and carries less than it did, may be more than is needed.
      isSaturated = hasFallen && limit === max
    }
    if (nowMs < restUntilMs) return
    // More would only wait in a queue that stays. It may be young connections that fill it: they will not for long.
    if (nextDirection === 'up' && !hasRoom) {
      if (nowMs - Math.max(emptyAtMs, restUntilMs) < CALM_REST_MS) return
      isSaturated = true
      nextDirection = 'down'
    }
    const [first, second] = nextDirection === 'up' ? [up(), down()] : [down(), up()]
    if ((hasRoom || first < limit) && begin(first, rate, nowMs)) return
    nextDirection = 'up'
    // On a line without a queue nobody gains by fewer.
    if (!(isSaturated && (isDeaf || !hasRoom) && begin(second, rate, nowMs))) rest(nowMs)
  }

  /** Returns whether it is still early. */
  const growEarly = (sample: ConcurrencySample): boolean => {
    const queue = queueing.state(sample.atMs)
    const next = early?.next({ ...sample, queue, leastRoundTripMs: queueing.leastMs() }, limit)
    if (next === undefined) early = undefined
    else if (next !== limit) moveTo(Math.min(next, max, ceiling), sample.atMs)
    return early !== undefined
  }

  return {
    limit: () => limit,
    onSample(sample) {
      const nowMs = sample.atMs
      const sinceMs = nowMs - (lastMs ?? nowMs)
      lastMs = nowMs
      if (sample.roundTripMs !== undefined) queueing.add(sample.roundTripMs, nowMs)
      const queue = queueing.state(nowMs)
      if (queue === 'empty') emptyAtMs = nowMs
      emptySinceMs = queue === 'empty' ? (emptySinceMs ?? nowMs) : undefined
      if (sample.throttles > 0 || sample.failures > Math.max(1, limit / 4)) {
        halve(nowMs)
        return
      }
      // Slots that are not used say nothing about what more of them would bring; nor do those of a limit before.
      const isOther = sample.inFlight < limit * 0.75 || sample.inFlight > limit
      if (sinceMs <= 0 || sinceMs > GAP_MS || isOther) {
        goodput.restart(nowMs, 0)
        return
      }
      if (growEarly(sample)) return
      const rate = goodput.add(sample, sinceMs, limit, restMs <= HASTY_REST_MS)
      if (rate === undefined) return
      if (trial !== undefined) end(trial, rate, nowMs)
      else watch(rate, nowMs)
    },
    isCurious() {
      const nowMs = lastMs ?? 0
      return isEarly || trial !== undefined || nowMs < curiousUntilMs || nowMs >= restUntilMs - CURIOUS_MS
    },
  }
}
