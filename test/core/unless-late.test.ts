// Waiting for what was told to end.

import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { unlessLate } from '../../src/core/time/unless-late.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const late = (): string => 'late'

describe('work that was told to end', () => {
  it('has so much time from then on, and no more', async () => {
    const clock = createSimulatedClock()
    const stop = new AbortController()
    const ends: string[] = []
    void unlessLate(clock, stop.signal, new Promise<string>(() => undefined), late).then((end) => ends.push(end))
    await clock.advance(50_000)
    stop.abort()

    await clock.advance(14_999)
    expect(ends).toEqual([])
    await clock.advance(1)

    expect(ends).toEqual(['late'])
  })

  it.each([
    ['in time', () => Promise.resolve('done'), { value: 'done' }],
    ['by failing', () => Promise.reject(new Error('broken')), { error: new Error('broken') }],
  ])('and ends %s leaves no timer and no listener', async (_, work, wanted) => {
    for (const isTold of [false, true]) {
      const clock = createSimulatedClock()
      const stop = new AbortController()
      const ended = unlessLate(clock, stop.signal, work(), late).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      if (isTold) stop.abort()
      await clock.advance(0)

      expect(await ended).toEqual(wanted)
      expect([clock.pending, getEventListeners(stop.signal, 'abort')]).toEqual([0, []])
    }
  })
})
