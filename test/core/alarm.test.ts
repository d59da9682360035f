// One timer that can be moved.

import { expect, it } from 'vitest'
import { createAlarm } from '../../src/core/time/alarm.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

it('rings once, at the time that was set last, and may be set for that time again', async () => {
  const clock = createSimulatedClock()
  const startMs = clock.monotonicNow()
  const rung: number[] = []
  const setAlarm = createAlarm(clock, () => rung.push(clock.monotonicNow() - startMs))
  setAlarm(startMs + 50)
  setAlarm(startMs + 20)
  setAlarm(startMs + 30)
  await clock.advance(100)
  expect(rung).toEqual([30])

  setAlarm(startMs + 30)
  await clock.advance(0)
  expect(rung).toEqual([30, 100])
})

it('sets no timer for no time, and takes away the one that was set', () => {
  const clock = createSimulatedClock()
  const setAlarm = createAlarm(clock, () => expect.unreachable('It rings.'))
  setAlarm(clock.monotonicNow() + 50)
  setAlarm(undefined)

  expect(clock.pending).toBe(0)
})
