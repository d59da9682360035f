// All that learns how to use the line, in one: the number of parts that finds itself, the limit of the rate with its
// timetable, and the background mode that listens for queues.

import { createConcurrency, type ConcurrencyOptions } from './concurrency.ts'
import type { EngineOptions } from './engine.ts'
import { createLineDelay } from './line-delay.ts'
import { createPace } from './pace.ts'
import type { LimitRate } from './timetable.ts'
import { checkConcurrency, MAX_CONCURRENCY, type Tuning } from './tuning.ts'

export interface AdaptiveTuning extends Tuning {
  /** Another limit from now on. Throws ERR_UPLOAD_INVALID_ARGUMENT. */
  limitRate(limit: LimitRate): void
}

const BACKGROUND_CONCURRENCY: ConcurrencyOptions = { start: 2, max: 4 }
/** How often the controller hears: while a trial is near, and between trials. */
const SAMPLE_MS = { curious: 100, calm: 500 }

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for a number of parts or a limit that is none. */
export function createAdaptiveTuning(options: EngineOptions): AdaptiveTuning {
  const { clock } = options
  // A number that is given has nothing to learn: no bare connection is opened for it.
  const hearing = (options.concurrency ?? 'auto') === 'auto' ? options.hearing : undefined
  const controller = createConcurrency(concurrencyOptions(options), hearing)
  const pace = createPace(clock, options.limitRate)
  const line = options.isBackground === true ? createLineDelay(options, (rate) => pace.setCeiling(rate)) : undefined
  const transport = line?.transport ?? options.transport
  const roundTrips = hearing?.roundTrips({ transport, clock })

  return {
    limit: () => controller.limit(),
    pace,
    transport: roundTrips?.transport ?? transport,
    sampleEveryMs: () => (controller.isCurious() ? SAMPLE_MS.curious : SAMPLE_MS.calm),
    onSample(sample) {
      controller.onSample({ ...sample, roundTripMs: roundTrips?.takeNewest() })
      if (sample.inFlight > 0 && controller.isCurious()) roundTrips?.measure()
    },
    addBytes: (bytes) => line?.addBytes(bytes),
    setActive(isActive) {
      line?.setActive(isActive)
      if (!isActive) roundTrips?.stop()
    },
    limitRate: (limit) => pace.setLimit(limit),
  }
}

function concurrencyOptions({ concurrency = 'auto', isBackground = false }: EngineOptions): ConcurrencyOptions {
  if (concurrency !== 'auto') return { fixed: checkConcurrency(concurrency) }
  return isBackground ? BACKGROUND_CONCURRENCY : { max: MAX_CONCURRENCY }
}
