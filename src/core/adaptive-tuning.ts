// Everything that learns how to use the line, in one: the number of parts that finds itself, the rate limit with its timetable,
// the background mode that listens for queues, and the resets of connections that crawl while others fly.

import { createConcurrency, fixedConcurrency, type ConcurrencyOptions } from './concurrency.ts'
import { createEnoughParts } from './line/enough-parts.ts'
import { createLineDelay } from './line/line-delay.ts'
import { createPace } from './line/pace.ts'
import { createSampling, type Learner } from './sampling.ts'
import { createStragglerResets } from './line/straggler-resets.ts'
import { checkConcurrency, type TuningMaker, type TuningOptions } from './tuning.ts'

/**
 * Of 64 connections to a host, two stay free of parts: one for the calls of a service on that host, one for a bare handshake.
 */
const MAX_PARTS = 62
const BACKGROUND_CONCURRENCY: ConcurrencyOptions = { start: 2, max: 4 }
/** How often the controller gets a sample, ms: while a trial is near, and between trials. */
const SAMPLE_MS = { curious: 100, calm: 500 }
/** How often a round trip is asked for in any case, ms: the least one is forgotten after ten minutes. */
const REMIND_MS = 300_000

/** The tuning that `concurrency: 'auto'`, `limitRate` and `isBackground` need. */
export const adaptiveTuning: TuningMaker = (options) => {
  const { clock, concurrency = 'auto' } = options
  // A given number has nothing to learn: no bare connection is opened for it.
  const isAuto = concurrency === 'auto'
  const hearing = isAuto ? options.hearing : undefined
  const controller = isAuto
    ? createConcurrency(bounds(options), hearing)
    : fixedConcurrency(Math.min(checkConcurrency(concurrency), MAX_PARTS))
  const pace = createPace(clock, options.limitRate)
  const enough = createEnoughParts()
  const line = options.isBackground === true ? createLineDelay(options, (rate) => pace.setCeiling(rate)) : undefined
  const transport = line?.transport ?? options.transport
  const roundTrips = hearing?.roundTrips({ transport, clock })
  let askedAtMs: number | undefined
  const enoughParts = (): number => (isAuto ? enough.at(pace.limit()) : Infinity)
  // What the limit holds back cannot be learnt from: then hardly any round trips are asked for, perhaps for a whole day.
  const isCurious = (): boolean => controller.isCurious() && enoughParts() >= controller.limit()
  const learner: Learner = {
    sampleEveryMs: () => (isCurious() ? SAMPLE_MS.curious : SAMPLE_MS.calm),
    onSample(sample) {
      enough.onSample(sample)
      controller.onSample({ roundTripMs: roundTrips?.takeNewest(), ...sample })
      askedAtMs ??= sample.atMs
      if (sample.inFlight === 0 || !(isCurious() || sample.atMs - askedAtMs >= REMIND_MS)) return
      roundTrips?.measure()
      askedAtMs = sample.atMs
    },
    addBytes: (bytes) => line?.addBytes(bytes),
    setActive(isActive) {
      enough.restart()
      line?.setActive(isActive)
      if (!isActive) roundTrips?.stop()
    },
  }

  return {
    limit: () => Math.min(controller.limit(), enoughParts()),
    pace,
    transport: roundTrips?.transport ?? transport,
    limitRate: (limit) => pace.setLimit(limit),
    sample: (slots) => createSampling(slots, learner),
    watchStragglers: () => createStragglerResets(),
  }
}

function bounds({ isBackground = false, hasher }: TuningOptions): ConcurrencyOptions {
  if (isBackground) return BACKGROUND_CONCURRENCY
  return { max: MAX_PARTS, ...(hasher?.lanes === undefined ? {} : { near: 2 * hasher.lanes }) }
}
