import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateLimit } from '../../src/core/rate-limit.ts'

describe('take', () => {
  it('spaces bytes out after the first burst', () => {
    const limit = createRateLimit({ bytesPerSecond: 1_000 })

    // 100 bytes are the burst of a tenth of a second; each further 100 cost 100 ms.
    expect([1, 2, 3, 4].map(() => limit.take(100, 5_000))).toEqual([0, 0, 100, 200])
    expect(limit.take(100, 5_300)).toBe(0)
    expect(limit.take(100, 5_300)).toBe(100)
  })

  it('lets one large take through at once and makes the next one wait for it', () => {
    const limit = createRateLimit({ bytesPerSecond: 1_000 })

    expect(limit.take(5_000, 0)).toBe(0)
    expect(limit.take(1, 0)).toBe(4_900)
  })

  it('saves nothing up over an idle time', () => {
    const limit = createRateLimit({ bytesPerSecond: 1_000 })
    limit.take(100, 0)

    expect([1, 2, 3].map(() => limit.take(100, 3_600_000))).toEqual([0, 0, 100])
  })

  it('never waits without a limit', () => {
    const limit = createRateLimit({ bytesPerSecond: undefined })

    expect([1, 2, 3].map(() => limit.take(1e12, 0))).toEqual([0, 0, 0])
  })

  it('gives back what did not go', () => {
    const limit = createRateLimit({ bytesPerSecond: 1_000 })
    limit.take(1_000, 0)
    limit.take(1_000, 0)
    limit.giveBack(1_000)

    expect(limit.take(1, 0)).toBe(900)
  })

  it('refuses a rate that is none', () => {
    for (const bytesPerSecond of [0, -1, 0.5, NaN, Infinity]) {
      expect(() => createRateLimit({ bytesPerSecond })).toThrow(
        expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }),
      )
    }
  })

  it('keeps the rate within 5 % over 10 s, and within a burst and a take in every second', () => {
    const windowShare = fc.double({ min: 0.001, max: 0.2, noNaN: true })
    const lateMs = fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 10, maxLength: 40 })
    fc.assert(
      fc.property(
        fc.integer({ min: 10_000, max: 2_000_000_000 }),
        windowShare,
        fc.integer({ min: 1, max: 16 }),
        lateMs,
        (rate, share, senders, late) => {
          const bytes = Math.max(1, Math.floor(rate * share))
          const sends = simulate(rate, bytes, senders, late)
          const sentBetween = (from: number, to: number) => bytes * sends.filter((at) => at >= from && at < to).length

          // Over ten seconds of a running upload; its first burst is over.
          const tenSeconds = sentBetween(1_000, 11_000)
          expect(tenSeconds).toBeGreaterThan(rate * 10 * 0.95 - bytes)
          expect(tenSeconds).toBeLessThan(rate * 10 * 1.05 + bytes)
          for (let from = 0; from <= 10_000; from += 500) {
            expect(sentBetween(from, from + 1_000)).toBeLessThanOrEqual(rate * 1.12 + bytes)
          }
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('setRate', () => {
  it('pays at the new rate what is owed already', () => {
    const limit = createRateLimit({ bytesPerSecond: 1_000 })
    limit.take(1_100, 0)
    limit.setRate(10_000, 0)

    expect(limit.take(1, 0)).toBe(100)
  })

  it('switches the limit off and on', () => {
    const limit = createRateLimit({ bytesPerSecond: 1_000 })
    limit.take(60_000, 0)
    limit.setRate(undefined, 0)
    expect(limit.take(1e9, 0)).toBe(0)
    limit.setRate(1_000, 10)

    expect(limit.take(600, 10)).toBe(0)
    expect(limit.take(600, 10)).toBe(500)
  })
})

/** Senders that each wait as told, a little late, send at once and take again. Returns the times of all sends. */
function simulate(rate: number, bytes: number, senders: number, lateMs: readonly number[]): number[] {
  const limit = createRateLimit({ bytesPerSecond: rate })
  const ready = Array.from({ length: senders }, () => 0)
  const sends: number[] = []
  for (let step = 0; ; step += 1) {
    let next = 0
    for (let sender = 1; sender < senders; sender += 1) if (ready[sender]! < ready[next]!) next = sender
    const now = ready[next]!
    if (now > 12_000) return sends
    const delayMs = limit.take(bytes, now)
    const sentAt = delayMs === 0 ? now : now + delayMs + lateMs[step % lateMs.length]!
    sends.push(sentAt)
    ready[next] = sentAt
  }
}
