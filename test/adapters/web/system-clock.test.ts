import { describe, expect, it, vi } from 'vitest'

import { systemClock } from '../../../src/adapters/web/system-clock.ts'
import { clockContract } from '../../../src/testing/clock-contract.ts'

// The platform's own functions are replaced below the adapter: thirty days cannot be waited for.
clockContract('systemClock over simulated platform timers', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  return {
    clock: systemClock(),
    advance: async (ms) => {
      await vi.advanceTimersByTimeAsync(ms)
    },
    cleanUp: () => void vi.useRealTimers(),
  }
})

describe('systemClock over the real platform', () => {
  it('fires a timer no earlier than asked, by its own time', async () => {
    const clock = systemClock()
    const begin = clock.monotonicNow()

    await new Promise<void>((resolve) => void clock.setTimeout(resolve, 20))

    // Node rounds timers to whole milliseconds, so one may come up to 1 ms before its time.
    expect(clock.monotonicNow() - begin).toBeGreaterThanOrEqual(19)
  })

  it('clears a real timer', async () => {
    const clock = systemClock()
    const fired: string[] = []
    const timer = clock.setTimeout(() => fired.push('cleared'), 1)

    clock.clearTimeout(timer)
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, 5))

    expect(fired).toEqual([])
  })

  it.each([undefined, NaN, -Infinity])('takes a delay of %s for none', async (delayMs) => {
    const clock = systemClock()

    await new Promise<void>((resolve) => void clock.setTimeout(resolve, delayMs as number))
  })

  it('says how far this place is ahead of UTC at a time', () => {
    vi.stubEnv('TZ', 'America/New_York')
    const [winterMs, summerMs] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 6, 1)]

    expect([winterMs, summerMs].map((wallMs) => systemClock().utcOffsetMinutes?.(wallMs))).toEqual([-300, -240])
  })

  it('says the wall time of the platform', () => {
    const before = Date.now()
    const now = systemClock().wallNow()

    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })
})
