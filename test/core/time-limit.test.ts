// A time limit that another signal has ended before its time.

import { describe, expect, it } from 'vitest'

import { createTimeLimit } from '../../src/core/time/time-limit.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

describe('a time limit that was ended by the outer signal', () => {
  it.each([
    ['while it runs', 30_000],
    ['before it begins', 0],
  ])('keeps no timer when that fires %s, however long what it limits takes to end', async (_, afterMs) => {
    const clock = createSimulatedClock()
    const outer = new AbortController()
    const end = (): void => outer.abort(new Error('enough'))
    if (afterMs === 0) end()
    const limit = createTimeLimit(clock, 60_000, () => new Error('late'), outer.signal)
    await clock.advance(afterMs)
    end()
    // A request that is told to end may still say that it starts.
    limit.restart(60_000)

    expect(clock.pending).toBe(0)
    expect(limit.signal.reason).toBe(outer.signal.reason)
  })
})
