// A wait, of which many may be on one signal in a night.

import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { sleep } from '../../src/core/time/sleep.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

it.each([
  ['its time', 'awake'],
  ['its signal', 'cancelled'],
  ['whoever wakes it', 'awake'],
])('ends by %s, and leaves no timer, no listener and nothing to wake', async (by, wanted) => {
  const clock = createSimulatedClock()
  const stop = new AbortController()
  const wakes = new Set<() => void>()
  const ended = sleep(clock, 1_000, stop.signal, wakes).then(
    () => 'awake',
    (error: unknown) => (error as Error).message,
  )

  await clock.advance(999)
  expect([clock.pending, wakes.size]).toEqual([1, 1])
  if (by === 'its time') await clock.advance(1)
  else if (by === 'its signal') stop.abort(new Error('cancelled'))
  else wakes.forEach((wake) => wake())

  expect(await ended).toBe(wanted)
  expect([clock.pending, getEventListeners(stop.signal, 'abort'), wakes.size]).toEqual([0, [], 0])
})
