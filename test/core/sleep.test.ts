// A wait, of which many may be on one signal in a night.

import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { sleep } from '../../src/core/time/sleep.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

it.each([
  ['its time', 'awake', false],
  ['its signal', 'cancelled', true],
])('ends by %s, and leaves no timer and no listener', async (_, wanted, isStopped) => {
  const clock = createSimulatedClock()
  const stop = new AbortController()
  const ended = sleep(clock, 1_000, stop.signal).then(
    () => 'awake',
    (error: unknown) => (error as Error).message,
  )

  await clock.advance(999)
  if (isStopped) stop.abort(new Error('cancelled'))
  else await clock.advance(1)

  expect(await ended).toBe(wanted)
  expect([clock.pending, getEventListeners(stop.signal, 'abort')]).toEqual([0, []])
})
