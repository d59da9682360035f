// The rests between trials, and when round trips are measured.

import { describe, expect, it } from 'vitest'
import { createTrialRest } from '../../../src/core/line/trial-rest.ts'

describe('rests', () => {
  it('double up to two minutes, and are short again after a change', () => {
    const rest = createTrialRest()
    const restOf = (atLeastMs = 0): number => {
      rest.begin(0, atLeastMs)
      return rest.endsAtMs()
    }
    expect(Array.from({ length: 8 }, () => restOf())).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000,
    ])
    rest.renew()
    expect(restOf()).toBe(2_000)
    expect(restOf(30_000)).toBe(30_000)
  })

  it('are listened to before their end, and whenever a rate is to be explained', () => {
    const rest = createTrialRest()
    expect(rest.isListening(0)).toBe(true)
    rest.begin(0, 30_000)
    expect(rest.isListening(26_999)).toBe(false)
    expect(rest.isListening(27_000)).toBe(true)
    rest.listen(10_000)
    expect(rest.isListening(13_999)).toBe(true)
    expect(rest.isListening(14_000)).toBe(false)
  })

  it('end early when told so, never later', () => {
    const rest = createTrialRest()
    rest.begin(0, 10_000)
    rest.endBy(20_000)
    expect(rest.isOver(10_000)).toBe(true)
    rest.begin(10_000, 10_000)
    rest.endBy(12_000)
    expect(rest.isOver(11_999)).toBe(false)
    expect(rest.isOver(12_000)).toBe(true)
  })
})
