// How many parts may be in flight, found by trying: more as long as more brings more, half when the storage says that it
// is too much. Pure: it learns from samples and answers with a number. No fixed number is right: a long lossy line
// wants sixty-four connections, a short clean one two, and each more would only delay everyone else's traffic.
//
// It measures the present limit, tries another, and keeps what was better. A trial upwards must bring 5 % more bytes,
// a trial downwards must cost nothing that can be seen. While nothing is known, one trial upwards follows the other.

import { invalid } from './errors.ts'

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

/** What happened since the last sample; one every second or so. */
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
}

export interface Concurrency {
  /** Parts that may be in flight now. */
  limit(): number
  onSample(sample: ConcurrencySample): void
}

const GROWTH = 1.5
/** More bytes a second that a trial upwards must bring. */
const WORTH = 1.05
/** Share of the bytes a second that a trial downwards must keep. */
const KEPT = 0.98
/** After a change, connections open and buffers of the system fill: those bytes say nothing about the line. */
const SETTLE_MS = 1_000
const MEASURE_MS = 2_000
/** How long a limit that was found is kept before another one is tried; doubles while trials change nothing. */
const FIRST_REST_MS = 15_000
const LAST_REST_MS = 120_000
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
    return { limit: () => options.fixed, onSample: () => undefined }
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
}

function createController(min: number, start: number, max: number): Concurrency {
  let limit = start
  let trial: Trial | undefined
  /** Below what was too much lately; it rises with every rest, because storages grow too. */
  let ceiling = max
  let isEarly = true
  let nextDirection: 'up' | 'down' = 'up'
  let restMs = FIRST_REST_MS
  let restUntilMs = -Infinity
  let halvedAtMs = -Infinity
  let lastMs: number | undefined
  const gauge = createGauge()

  const up = (): number => {
    // Big steps only until the first rest; a line that is known changes little.
    const step = isEarly ? Math.ceil(limit * (GROWTH - 1)) : Math.max(1, Math.floor(limit / 4))
    return Math.min(limit + step, max, ceiling)
  }
  const down = (): number => Math.max(min, Math.floor(limit / GROWTH))
  const moveTo = (next: number, nowMs: number): void => {
    limit = next
    gauge.restart(nowMs + SETTLE_MS)
  }
  const rest = (nowMs: number): void => {
    isEarly = false
    ceiling = Math.min(max, ceiling + Math.ceil(ceiling / 8))
    restUntilMs = nowMs + restMs
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
    const isKept = rate >= fromRate * (isUp ? WORTH : KEPT)
    nextDirection = isKept === isUp ? 'up' : 'down'
    if (isKept) restMs = FIRST_REST_MS
    else moveTo(fromLimit, nowMs)
    // A step upwards that brought less than half of its share has met the end of the line: the next would overshoot.
    const isFull = isUp && rate < fromRate * (1 + (limit / fromLimit - 1) / 2)
    if (!(isKept && !isFull && begin(isUp ? up() : down(), rate, nowMs))) rest(nowMs)
  }
  const halve = (nowMs: number): void => {
    if (nowMs - halvedAtMs < HALVING_MS) return
    halvedAtMs = nowMs
    // A trial that drew the complaint began at a limit that drew none; half of the present one is safe for both.
    trial = undefined
    nextDirection = 'up'
    restMs = FIRST_REST_MS
    const tooMuch = limit
    moveTo(Math.max(min, Math.floor(limit / 2)), nowMs)
    rest(nowMs)
    ceiling = Math.max(limit, Math.floor(tooMuch * 0.75))
  }

  return {
    limit: () => limit,
    onSample(sample) {
      const nowMs = sample.atMs
      const sinceMs = nowMs - (lastMs ?? nowMs)
      lastMs = nowMs
      if (sample.throttles > 0 || sample.failures > Math.max(1, limit / 4)) {
        halve(nowMs)
        return
      }
      // Slots that are not used say nothing about what more of them would bring.
      const isIdle = sample.inFlight < limit * 0.75
      if (sinceMs <= 0 || sinceMs > GAP_MS || isIdle) {
        gauge.restart(nowMs)
        return
      }
      const rate = gauge.add(sample, sinceMs, limit)
      if (rate === undefined) return
      if (trial !== undefined) end(trial, rate, nowMs)
      else if (nowMs >= restUntilMs) {
        const [first, second] = nextDirection === 'up' ? [up(), down()] : [down(), up()]
        begin(first === limit ? second : first, rate, nowMs)
      }
    },
  }
}

/** Bytes a second over enough time to be compared; undefined until then, and then anew. */
function createGauge(): {
  restart(fromMs: number): void
  add(sample: ConcurrencySample, sinceMs: number, limit: number): number | undefined
} {
  let fromMs = -Infinity
  let bytes = 0
  let elapsedMs = 0
  let parts = 0
  let hasGap = false
  const clear = (): void => {
    bytes = 0
    elapsedMs = 0
    parts = 0
    hasGap = false
  }
  return {
    restart(nextFromMs) {
      fromMs = Math.max(fromMs, nextFromMs)
      clear()
    },
    add(sample, sinceMs, limit) {
      if (sample.atMs - sinceMs < fromMs) return undefined
      bytes += sample.bytesSince
      elapsedMs += sinceMs
      parts += sample.partsDone
      hasGap ||= sample.bytesSince === 0
      // Bytes that come in lumps, part by part, need all slots to turn over twice before they are a rate.
      if (elapsedMs < MEASURE_MS || (hasGap && parts < limit * 2)) return undefined
      const rate = (bytes / elapsedMs) * 1000
      clear()
      return rate
    },
  }
}
