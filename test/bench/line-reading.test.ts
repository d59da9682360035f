// What is read from the far end's count of a run on a simulated line.

import { describe, expect, it } from 'vitest'
import { fairness, isWholeRun, latePercent, settledSeconds, untilStopped } from '../../bench/line/reading.ts'

/** Tenths of a second at so many Mbit/s. */
function tenths(...spans: readonly (readonly [seconds: number, megabitsPerSecond: number])[]): number[] {
  return spans.flatMap(([seconds, rate]) => Array.from({ length: seconds * 10 }, () => (rate * 1e6) / 80))
}

describe('a run', () => {
  const whole = { code: 0, isStopped: false, arrivedBytes: 100, wantedBytes: 100 }

  it('is whole if its contestant ended by itself, and what it had to send arrived', () => {
    expect(isWholeRun(whole)).toBe(true)
    expect(isWholeRun({ ...whole, status: 'confirmed', arrivedBytes: 120 })).toBe(true)
  })

  it.each([
    ['by its own exit', 3],
    ['by the signal', null],
  ])('counts as far as it came if it took too long and was stopped, %s', (_how, code) => {
    expect(isWholeRun({ ...whole, code, isStopped: true, arrivedBytes: 40 })).toBe(false)
  })

  it.each([
    ['a crash that nobody asked for', { code: null }, 'was ended by a signal'],
    ['a failure', { code: 1 }, 'ended with 1'],
    ['a failure at the stop', { code: 1, isStopped: true }, 'ended with 1'],
    ['an upload of a part of its files', { status: 'partial' }, 'ended partial'],
    ['an end without all bytes', { arrivedBytes: 99 }, 'sent 99 of 100 bytes'],
  ])('is no result after %s', (_what, change, words) => {
    expect(() => isWholeRun({ ...whole, ...change })).toThrow(words)
  })
})

describe('settling after a change', () => {
  const changes = [
    { atMs: 10_000, megabitsPerSecond: 10 },
    { atMs: 30_000, megabitsPerSecond: 100 },
  ]

  it('is the longest wait until five seconds fill the line', () => {
    const count = tenths([10, 96], [3, 1], [17, 9.6], [7, 20], [25, 96])
    const seconds = settledSeconds(count, changes)
    expect(seconds).toBeGreaterThan(6)
    expect(seconds).toBeLessThanOrEqual(7)
  })

  it('is all the time there was when the line was never filled', () => {
    expect(settledSeconds(tenths([30, 9.6], [30, 50]), changes)).toBe(25)
  })

  it('is not measured where the upload ended before a change', () => {
    expect(settledSeconds(tenths([28, 9.6]), changes)).toBeNaN()
  })

  it('takes the time in which an upload stood still until it was stopped', () => {
    const count = { tenths: tenths([30, 9.6], [4, 20]), otherTenths: [], untilMs: 60_000 }
    expect(settledSeconds(untilStopped(count).tenths, changes)).toBe(25)
    expect(untilStopped(count).otherTenths).toEqual([])
  })

  it('begins anew when the rate falls again, and overlooks the last seconds', () => {
    const seconds = settledSeconds(tenths([30, 9.6], [8, 96], [4, 10], [20, 96], [4, 20]), changes)
    expect(seconds).toBeGreaterThan(11)
    expect(seconds).toBeLessThanOrEqual(12)
  })
})

describe('a fair share', () => {
  const samples = Array.from({ length: 400 }, (_, at) => [at * 100, 0, at < 250 ? 9 : 4, 4] as const)

  it('compares one of our connections with one of the two others, from twenty seconds after both have begun', () => {
    const count = { tenths: tenths([5, 90], [35, 40]), otherTenths: tenths([5, 0], [20, 50], [10, 20]) }
    expect(fairness(count, samples)).toBeCloseTo(1)
  })

  it('ends with the first of the two sides', () => {
    const count = { tenths: tenths([25, 40], [5, 40]), otherTenths: tenths([25, 40], [5, 20], [10, 90]) }
    expect(
      fairness(
        count,
        samples.map(([ms]) => [ms, 0, 4, 4] as const),
      ),
    ).toBeCloseTo(2 / 3, 1)
  })

  it('is small for an upload that starves until it is stopped', () => {
    const count = { tenths: tenths([21, 40]), otherTenths: tenths([39, 60]), untilMs: 40_000 }
    const always = samples.map(([ms]) => [ms, 0, 1, 4] as const)
    expect(fairness(count, always)).toBeGreaterThan(1)
    expect(fairness(untilStopped(count), always)).toBeLessThan(0.1)
  })

  it('is no number where the two did not run together', () => {
    expect(fairness({ tenths: tenths([20, 40]), otherTenths: [] }, samples)).toBeNaN()
  })
})

describe('how long the sender waited for the processor', () => {
  const at = (...times: readonly number[]) => times.map((ms) => [ms, 0, 4, 4] as const)

  it('is the share of the samples that came more than twenty milliseconds late', () => {
    expect(latePercent(at(0, 100, 221, 322, 900))).toBe(50)
    expect(latePercent(at(5_000, 5_101, 5_220, 5_320))).toBe(0)
  })

  it('is not known of a rival, which has none', () => {
    expect(latePercent([])).toBeNaN()
  })
})
