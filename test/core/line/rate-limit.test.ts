import { describe, expect, it } from 'vitest'
import { createRateLimit } from '../../../src/core/line/rate-limit.ts'

/** 1,000 bytes a second from 0 on. */
function limitOf(rate: number | undefined) {
  const limit = createRateLimit()
  limit.setRate(rate, 0)
  return limit
}

describe('bytes under a rate', () => {
  it('wait until what went before is paid for', () => {
    const limit = limitOf(1_000)
    limit.spend(100, 5_000)

    // Fifty of the hundred ms may be caught up on.
    expect([5_000, 5_049, 5_049.5, 5_050].map((at) => limit.waitMs(at))).toEqual([50, 1, 1, 0])
    limit.spend(5_000, 5_050)
    expect(limit.waitMs(5_050)).toBe(5_000)
  })

  it('are saved up over an idle time for a twentieth of a second and no more', () => {
    const limit = limitOf(1_000)
    limit.spend(1_000, 0)
    limit.spend(50, 3_600_000)

    expect(limit.waitMs(3_600_000)).toBe(0)
    limit.spend(50, 3_600_000)
    expect(limit.waitMs(3_600_000)).toBe(50)
  })

  it('never wait without one', () => {
    const limit = limitOf(undefined)
    limit.spend(1e12, 0)

    expect([limit.waitMs(0), limit.pieceBytes()]).toEqual([0, Infinity])
  })

  it('go in pieces of a hundredth of a second, but of a kilobyte at least', () => {
    expect([40_000_000, 512_000, 1_000].map((rate) => limitOf(rate).pieceBytes())).toEqual([400_000, 5_120, 1_024])
  })
})

describe('another rate', () => {
  it('is paid for what is owed already', () => {
    const limit = limitOf(1_000)
    limit.spend(1_050, 0)
    limit.setRate(10_000, 0)

    expect(limit.waitMs(0)).toBe(100)
  })

  it('that is the same changes nothing, not even what may be caught up on', () => {
    const limit = limitOf(1_000)
    limit.spend(100, 0)
    limit.setRate(1_000, 90)
    limit.spend(40, 90)

    expect(limit.waitMs(90)).toBe(0)
  })

  it('may be none, and one again, and forgets what was owed', () => {
    const limit = limitOf(1_000)
    limit.spend(60_000, 0)
    limit.setRate(undefined, 0)
    expect(limit.waitMs(0)).toBe(0)
    limit.spend(1e9, 0)
    limit.setRate(1_000, 10)

    expect(limit.waitMs(10)).toBe(0)
  })
})
