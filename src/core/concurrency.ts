// How many parts may be in flight, found by trying: more as long as more brings more, half when the storage says that it
// is too much. Pure: it learns from samples and answers with a number. No fixed number is right: a long lossy line
// wants sixty-four connections, a short clean one two, and each more would only delay everyone else's traffic.
//
// It measures the present limit, tries another, and keeps what was better. While nothing is known it doubles. Later it
// rests between trials, and watches: young connections carry much more than they can keep up once they have lost
// packets, so a rate that falls is the sign to try more at once, and one that rises that the line has changed.

import { invalid } from './errors.ts'
import { createGoodput } from './goodput.ts'
import { createQueueing } from './queueing.ts'

export type ConcurrencyOptions =
  | {
      /** Default 1. */
      readonly min?: number
      /** Default 2. */
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
const SHRINKAGE = 1.5
/** More bytes a second that a trial upwards must bring. */
const WORTH = 1.05
/** Share of the bytes a second that a trial downwards must keep. */
const KEPT = 0.98
/** The same for a large step upwards while the queue is not full. */
const LENIENCY = 0.6
/** A rate this far from the usual one is another line. */
const FALLEN = 0.88
const RISEN = 1.2
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
/** A trial downwards costs more when it fails, because what is in flight must end first: not before such a rest. */
const CALM_REST_MS = 8_000
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
  const start = options.start ?? Math.min(Math.max(2, min), max)
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
  /** More brought nothing, or little for what it was: fewer may do as well. */
  let isSaturated = false
  let nextDirection: 'up' | 'down' = 'up'
  /** Since when a trial upwards waits for the line's queue to empty. */
  let fullSinceMs: number | undefined
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
    const lengthMs = Math.max(restMs, atLeastMs, nextDirection === 'down' ? CALM_REST_MS : 0)
    restUntilMs = nowMs + lengthMs
    if (lengthMs >= THROTTLED_REST_MS) ceiling = Math.min(max, ceiling + Math.ceil(ceiling / 8))
    restMs = Math.min(restMs * 2, LAST_REST_MS)
  }
  /** Starts a trial, if that is another limit. */
  const begin = (next: number, rate: number, nowMs: number): boolean => {
    if (next === limit || rate === 0) return false
    trial = { fromLimit: limit, fromRate: rate }
    moveTo(next, nowMs)
    return true
  }
  const end = ({ fromLimit, fromRate }: Trial, rate: number, nowMs: number): void => {
    trial = undefined
    const isUp = limit > fromLimit
    // Young connections fill any line for a moment, so a large step that brought nothing says little. Going back would
    // often be wrong; while the line's queue is short it is kept, and fewer are tried later.
    const isLenient = isUp && growth > LATE_GROWTH && queueing.state(nowMs) === 'short'
    const hasGained = rate >= fromRate * (isUp ? WORTH : KEPT)
    const isKept = hasGained || (isLenient && rate >= fromRate * LENIENCY)
    // A step upwards that brought less than half of its share has met the end of the line: the next would overshoot.
    const isFull = isUp && rate < fromRate * (1 + (limit / fromLimit - 1) / 2)
    if (isUp) isSaturated = isFull
    nextDirection = isKept === isUp && !isFull ? 'up' : 'down'
    // What young connections carried is not usual; what a limit brought before, it is to bring again.
    usualRate = isKept ? undefined : fromRate
    // The next step is as large as what this one brought, so that it does not pass the end of the line by much.
    if (isUp) growth = Math.min(growth, Math.max(LATE_GROWTH, rate / fromRate))
    if (isKept) restMs = FIRST_REST_MS
    else moveTo(fromLimit, nowMs)
    if (isUp && isKept && !isFull && queueing.state(nowMs) === 'full') nextDirection = 'up'
    else if (isKept && !isFull && begin(isUp ? up() : down(), rate, nowMs)) return
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
    const hasFallen = rate < usual * FALLEN
    usualRate = usual + (rate - usual) * FOLLOW
    if (hasFallen || rate > usual * RISEN) {
      usualRate = rate
      restMs = FIRST_REST_MS
      restUntilMs = Math.min(restUntilMs, nowMs + LOOK_MS)
      nextDirection = 'up'
      growth = FALL_GROWTH
      // What cannot go up any more, and carries less than it did, may be more than is needed.
      isSaturated = hasFallen && limit === max
    }
    if (nowMs < restUntilMs) return
    // More would only wait in a queue that is full. It may be young connections that fill it: they will not for long.
    if (nextDirection === 'up' && queueing.state(nowMs) === 'full') {
      fullSinceMs ??= nowMs
      if (nowMs - fullSinceMs < CALM_REST_MS) return
      isSaturated = true
      nextDirection = 'down'
    }
    fullSinceMs = undefined
    const [first, second] = nextDirection === 'up' ? [up(), down()] : [down(), up()]
    if (begin(first, rate, nowMs)) return
    nextDirection = 'up'
    if (!(isSaturated && begin(second, rate, nowMs))) rest(nowMs)
  }

  return {
    limit: () => limit,
    onSample(sample) {
      const nowMs = sample.atMs
      const sinceMs = nowMs - (lastMs ?? nowMs)
      lastMs = nowMs
      if (sample.roundTripMs !== undefined) queueing.add(sample.roundTripMs, nowMs)
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
      const rate = goodput.add(sample, sinceMs, limit, restMs <= HASTY_REST_MS)
      if (rate === undefined) return
      if (trial !== undefined) end(trial, rate, nowMs)
      else watch(rate, nowMs)
    },
    isCurious: () => isEarly || trial !== undefined || (lastMs ?? 0) >= restUntilMs - CURIOUS_MS,
  }
}
