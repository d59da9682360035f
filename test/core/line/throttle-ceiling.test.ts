// What a storage puts up with.

import { describe, expect, it } from 'vitest'
import { createThrottleCeiling } from '../../../src/core/line/throttle-ceiling.ts'

describe('the ceiling of a storage that complains', () => {
  it('is half at once and three quarters for later, and rises by an eighth at a time', () => {
    const ceiling = createThrottleCeiling(1, 64)
    expect(ceiling.complain(40, 0)).toBe(20)
    expect(ceiling.most()).toBe(30)
    ceiling.raise()
    expect(ceiling.most()).toBe(34)
    for (let times = 0; times < 20; times += 1) ceiling.raise()
    expect(ceiling.most()).toBe(64)
  })

  it('halves once for the answers of three seconds, and never below the minimum', () => {
    const ceiling = createThrottleCeiling(3, 64)
    expect(ceiling.complain(8, 0)).toBe(4)
    expect(ceiling.complain(4, 2_999)).toBeUndefined()
    expect(ceiling.complain(4, 3_000)).toBe(3)
    expect(ceiling.most()).toBe(3)
  })
})
