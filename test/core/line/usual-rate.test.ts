// What a limit usually brings, and when a rate is another.

import { describe, expect, it } from 'vitest'
import { createUsualRate } from '../../../src/core/line/usual-rate.ts'

function known(...rates: number[]) {
  const usual = createUsualRate()
  for (const rate of rates) usual.follow(rate)
  return usual
}

describe('the usual rate', () => {
  it('takes the first rate for usual, and tells one that is far from it', () => {
    expect(createUsualRate().compare(5, true)).toBe('usual')
    const usual = known(100)
    expect(usual.compare(87, false)).toBe('fallen')
    expect(usual.compare(89, false)).toBe('usual')
    expect(usual.compare(119, false)).toBe('usual')
    expect(usual.compare(121, false)).toBe('risen')
  })

  it('remembers the best where queues can be seen: a slow fall is a fall', () => {
    const falling = known(...Array.from({ length: 60 }, (_, at) => 100 - at / 3))
    expect(falling.compare(80, false)).toBe('usual')
    expect(falling.compare(80, true)).toBe('fallen')
    expect(known(100).compare(94, true)).toBe('usual')
    expect(known(100).compare(92, true)).toBe('fallen')
  })

  it('forgets the best when told that it cannot be reached again', () => {
    const usual = known(100)
    usual.renew(50, true)
    expect(usual.compare(50, true)).toBe('fallen')
    usual.renew(50, false)
    expect(usual.compare(50, true)).toBe('usual')
  })

  it('keeps the best over a trial that gained, and forgets it after one that brought nothing', () => {
    for (const [rate, isBestKept, best, later] of [
      [90, true, 100, 'fallen'],
      [110, true, 110, 'fallen'],
      [90, false, 90, 'usual'],
    ] as const) {
      const usual = known(100)
      usual.afterTrial(rate, 90, isBestKept)
      expect([usual.best(), usual.compare(90, true)]).toEqual([best, later])
    }
  })
})
