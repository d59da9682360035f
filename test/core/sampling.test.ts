// When the line is sampled, and what a sample says.

import { expect, it } from 'vitest'
import { createSampling, type Learner } from '../../src/core/sampling.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

it('samples ten times a second while parts are under way, else once, and says how late a sample came', async () => {
  const clock = createSimulatedClock()
  const startMs = clock.monotonicNow()
  const samples: Parameters<Learner['onSample']>[0][] = []
  let inFlight = 1
  const slots = { clock, inFlight: () => inFlight, resize: () => undefined, sampled: () => undefined }
  const sampling = createSampling(slots, {
    ...{ sampleEveryMs: () => 100, addBytes: () => undefined, setActive: () => undefined },
    onSample: (sample) => samples.push({ ...sample, atMs: sample.atMs - startMs }),
  })
  sampling.setActive(true)
  sampling.addBytes(5)
  sampling.partDone()
  await clock.advance(100)
  sampling.addBytes(7)
  clock.suspend(350)
  inFlight = 0
  await clock.advance(1_000)
  sampling.setActive(false)

  expect(samples).toEqual([
    { atMs: 100, lateMs: 0, inFlight: 1, bytesSince: 5, partsDone: 1 },
    { atMs: 450, lateMs: 250, inFlight: 0, bytesSince: 7, partsDone: 0 },
    { atMs: 1_450, lateMs: 0, inFlight: 0, bytesSince: 0, partsDone: 0 },
  ])
  expect(clock.pending).toBe(0)
})
