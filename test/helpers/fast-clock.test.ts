import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fastClock } from './fast-clock.ts'

const SPEED = 20

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'Date', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

it('goes so many times as fast as the system’s', async () => {
  const clock = fastClock(SPEED)
  const [wall, monotonic] = [clock.wallNow(), clock.monotonicNow()]

  await vi.advanceTimersByTimeAsync(1_000)

  expect([clock.wallNow() - wall, clock.monotonicNow() - monotonic]).toEqual([20_000, 20_000])
})

it('hardly moves while the process is held, and no timer is late for that', async () => {
  const clock = fastClock(SPEED)
  const seen: number[] = []
  clock.setTimeout(() => seen.push(clock.monotonicNow()), 10_000)
  const heldMs = 60_000
  const { now } = performance
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + heldMs)

  expect(clock.monotonicNow()).toBe(200)
  await vi.advanceTimersByTimeAsync(1_000)

  expect(seen).toHaveLength(1)
  expect(seen[0]).toBeLessThan(10_500)
})
