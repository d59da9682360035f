// Samples the line at regular times while parts are under way, for a tuning that learns from the samples.

import { createAlarm } from './time/alarm.ts'
import type { ConcurrencySample } from './line/concurrency-sample.ts'
import type { Clock } from './ports.ts'

/** What an engine tells about its slots. */
export interface Slots {
  readonly clock: Clock
  /** Number of parts under way. */
  inFlight(): number
  /** Called when the number of slots may have changed. */
  resize(): void
  /** Called after each sample: there may be something to start, or to reset. */
  sampled(): void
}

export interface Sampling {
  /** The first part after an idle time is under way: from here on there is something to learn. */
  begin(): void
  /** Sets whether there is anything to send; nothing is measured otherwise. */
  setActive(isActive: boolean): void
  /** The storage has taken a part. */
  partDone(): void
  /** This many more bytes were handed to the network. */
  addBytes(bytes: number): void
}

/** What learns from the samples. */
export interface Learner {
  /** Time until the next sample while parts are under way, ms. */
  sampleEveryMs(): number
  onSample(sample: Omit<ConcurrencySample, 'roundTripMs'>): void
  addBytes(bytes: number): void
  setActive(isActive: boolean): void
}

/** Time until the next sample while nothing is under way, ms. */
const IDLE_SAMPLE_MS = 1_000

export function createSampling(slots: Slots, learner: Learner): Sampling {
  const { clock } = slots
  let gauge = emptyGauge()
  let isActive = false
  let dueMs = 0

  const setSampler = createAlarm(clock, () => {
    const atMs = clock.monotonicNow()
    const lateMs = Math.max(0, atMs - dueMs)
    const since = gauge
    gauge = emptyGauge()
    learner.onSample({ atMs, lateMs, inFlight: slots.inFlight(), ...since })
    slots.resize()
    begin()
    slots.sampled()
  })
  const begin = (): void => {
    const waitMs = slots.inFlight() === 0 ? IDLE_SAMPLE_MS : learner.sampleEveryMs()
    dueMs = clock.monotonicNow() + waitMs
    setSampler(isActive ? dueMs : undefined)
  }

  return {
    begin,
    setActive(active) {
      isActive = active
      begin()
      learner.setActive(active)
    },
    partDone() {
      gauge.partsDone += 1
    },
    addBytes(bytes) {
      gauge.bytesSince += bytes
      learner.addBytes(bytes)
    },
  }
}

/** What happened on the line since the last sample. */
function emptyGauge(): { bytesSince: number; partsDone: number } {
  return { bytesSince: 0, partsDone: 0 }
}
