import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCongestionWindow, type CongestionWindow } from '../../../src/core/transfer/congestion-window.ts'

describe('the congestion window', () => {
  it('holds nobody back before anything was refused, nor for a few refusals', () => {
    const window = createCongestionWindow()
    expect(window.room(64, 0)).toBe(Infinity)
    refuse(window, 5, { from: 64, beganAtMs: 0, nowMs: 10 })

    expect(window.room(64, 10)).toBe(Infinity)
  })

  it('is what is left in flight when the others were refused', () => {
    const window = spent()
    refuse(window, 6, { from: 14, beganAtMs: 0, nowMs: 10 })

    expect([window.room(8, 10), window.room(7, 10)]).toEqual([0, 1])
  })

  it('loses no more than half by the refusals of one round trip, and half of that by those of the next', () => {
    const window = spent()
    refuse(window, 64, { from: 64, beganAtMs: 0, nowMs: 10 })
    expect(window.room(0, 10)).toBe(32)
    refuse(window, 32, { from: 32, beganAtMs: 11, nowMs: 20 })
    expect(window.room(0, 20)).toBe(16)
  })

  it('grows by steps that double, one a second, and only where the one before was answered', () => {
    const window = spent()
    refuse(window, 8, { from: 16, beganAtMs: 0, nowMs: 0 })
    const sizes = [0, 999, 1_000, 1_500, 2_000, 3_000].map((nowMs) => {
      window.taken(nowMs, 7, nowMs)
      return window.room(0, nowMs)
    })
    expect(sizes).toEqual([8, 8, 9, 9, 11, 15])

    window.taken(2_999, 14, 9_000)
    expect(window.room(0, 9_000)).toBe(15)
  })

  it.each([
    [16, [8, 9, 11, 15, 16, 18, 22]],
    [14, [7, 8, 10, 13, 14, 16, 20]],
    [10, [5, 6, 8, 9, 10, 12, 16]],
  ])(
    'comes back to one less than what was refused, %i, then tries that, and above it goes on',
    (refusedAt, expected) => {
      const window = spent()
      refuse(window, refusedAt / 2, { from: refusedAt, beganAtMs: 0, nowMs: 0 })
      const sizes = expected.map((_, second) => {
        const nowMs = second * 1_000
        if (second > 0) window.taken(nowMs, window.room(0, nowMs) - 1, nowMs)
        return window.room(0, nowMs)
      })

      expect(sizes).toEqual(expected)
    },
  )

  it('does not grow by answers while it is hardly used', () => {
    const window = spent()
    refuse(window, 16, { from: 32, beganAtMs: 0, nowMs: 0 })
    window.taken(1_000, 6, 1_000)
    expect(window.room(0, 1_000)).toBe(16)
    window.taken(1_000, 7, 1_000)
    expect(window.room(0, 1_000)).toBe(17)
  })

  it('loses half of what may go, and not of the few that go', () => {
    const window = spent()
    refuse(window, 16, { from: 32, beganAtMs: 0, nowMs: 0 })
    refuse(window, 1, { from: 4, beganAtMs: 1, nowMs: 1 })

    expect(window.room(0, 1)).toBe(8)
  })

  it('tries a number that was taken at last as soon as any other', () => {
    const window = spent()
    refuse(window, 8, { from: 16, beganAtMs: 0, nowMs: 0 })
    let nowMs = 0
    const takenAt = (size: number): number => {
      const fromMs = nowMs
      while (window.room(0, nowMs) < size) window.taken((nowMs += 500), size - 2, nowMs)
      return nowMs - fromMs
    }
    const waits = [1, 2, 3].map(() => {
      const waited = takenAt(9)
      refuse(window, 6, { from: 9, beganAtMs: nowMs, nowMs, left: 8 })
      return waited
    })
    takenAt(10)
    refuse(window, 12, { from: 11, beganAtMs: nowMs, nowMs, left: 10 })

    expect([waits, takenAt(11)]).toEqual([[1_000, 1_000, 2_000], 1_000])
  })

  it('grows from one by a step a second as well', () => {
    const window = spent()
    refuse(window, 1, { from: 2, beganAtMs: 0, nowMs: 0 })
    const sizes = [999, 1_000].map((nowMs) => {
      window.taken(nowMs, 0, nowMs)
      return window.room(0, nowMs)
    })

    expect(sizes).toEqual([1, 2])
  })

  it('begins with the shortest pause, however many refusals brought it there', () => {
    const window = spent()
    for (let nowMs = 1; nowMs <= 6; nowMs += 1) {
      const size = Math.min(window.room(0, nowMs), 32)
      refuse(window, size, { from: size, beganAtMs: nowMs, nowMs })
    }

    expect([window.room(0, 6), window.dueMs(6)]).toEqual([0, 106])
  })

  describe('takes refusals for chance', () => {
    /** Whether it bears one more after five of them and so many answers, which a tenth of the answers alone does not stand for. */
    const bears = (window: CongestionWindow, nowMs: number, answers: number): boolean => {
      const size = window.room(0, nowMs)
      const answered = (times: number): void => {
        for (let time = 0; time < times; time += 1) window.taken(nowMs, size - 1, nowMs)
      }
      answered(60)
      refuse(window, 5, { from: size, beganAtMs: nowMs, nowMs, left: size - 1 })
      answered(answers)
      refuse(window, 1, { from: size, beganAtMs: nowMs, nowMs })
      return window.room(0, nowMs) === size
    }

    it.each([
      ['where far fewer are in flight than drew the first', 32, 24, true],
      ['down to two', 4, 2, true],
      ['and not where about as many are', 32, 28, false],
    ])('%s', (_, refusedAt, size, isBorne) => {
      const window = spent()
      refuse(window, refusedAt - size, { from: refusedAt, beganAtMs: 0, nowMs: 0 })
      expect(window.room(0, 1)).toBe(size)

      expect(bears(window, 1, 4)).toBe(isBorne)
    })

    it('and not where more are tried again', () => {
      const window = spent()
      refuse(window, 16, { from: 32, beganAtMs: 0, nowMs: 0 })
      window.taken(1_000, 15, 1_000)

      expect(window.room(0, 1_001)).toBe(17)
      expect(bears(window, 1_001, 4)).toBe(false)
    })

    it('as long as there are some', () => {
      const window = spent()
      refuse(window, 16, { from: 32, beganAtMs: 0, nowMs: 0 })
      for (let time = 0; time < 200; time += 1) {
        if (time % 12 === 11) refuse(window, 1, { from: 16, beganAtMs: 1, nowMs: 1 })
        else window.taken(1, 15, 1)
      }
      for (let time = 0; time < 200; time += 1) window.taken(1, 15, 1)

      expect([window.room(0, 1), bears(window, 1, 3)]).toEqual([16, false])
    })
  })

  it('learns nothing of chance from one part alone', () => {
    const window = spent()
    refuse(window, 1, { from: 2, beganAtMs: 0, nowMs: 0 })
    expect(window.room(0, 0)).toBe(1)
    let pauses = 0
    let nowMs = 1
    for (let request = 1; request <= 200; request += 1) {
      nowMs = window.dueMs(nowMs) ?? nowMs + 1
      if (request % 4 > 0) window.taken(nowMs, 0, nowMs)
      else refuse(window, 1, { from: 1, beganAtMs: nowMs, nowMs })
      if (window.room(0, nowMs) < 1) pauses += 1
    }

    // But for those that a tenth of the answers stands for.
    expect(pauses).toBeGreaterThanOrEqual(35)
  })

  it('tries a number that is refused again and again ever more seldom, and the next at once when it is taken', () => {
    const window = spent()
    refuse(window, 8, { from: 16, beganAtMs: 0, nowMs: 0 })
    const waits: number[] = []
    let [nowMs, atMs] = [0, 0]
    for (; waits.length < 10; nowMs += 500) {
      window.taken(nowMs, 7, nowMs)
      if (window.room(8, nowMs) === 0) continue
      waits.push((nowMs - atMs) / 1_000)
      atMs = nowMs
      refuse(window, 6, { from: 9, beganAtMs: nowMs, nowMs, left: 8 })
    }
    expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 128])

    window.taken(nowMs + 128_000, 7, nowMs + 128_000)
    window.taken(nowMs + 129_000, 8, nowMs + 129_000)
    expect(window.room(0, nowMs + 129_000)).toBe(11)
  })

  it('pauses where the last one is refused too, and then sends one; for a second at most, and ever shorter when it is taken', () => {
    const window = spent()
    let nowMs = 0
    const pauses = Array.from({ length: 6 }, () => {
      refuse(window, 1, { from: 1, beganAtMs: nowMs, nowMs })
      const dueMs = window.dueMs(nowMs) ?? NaN
      expect([window.room(0, nowMs), window.room(0, dueMs), window.dueMs(dueMs)]).toEqual([0, 1, undefined])
      const pause = dueMs - nowMs
      nowMs = dueMs
      return pause
    })
    expect(pauses).toEqual([100, 200, 400, 800, 1_000, 1_000])

    for (let answer = 0; answer < 2; answer += 1) window.taken(nowMs, 0, nowMs)
    expect([window.room(0, nowMs), window.dueMs(nowMs)]).toEqual([1, undefined])
    refuse(window, 1, { from: 1, beganAtMs: nowMs, nowMs })
    expect((window.dueMs(nowMs) ?? NaN) - nowMs).toBe(500)
  })

  it('bears what is still refused when far fewer are in flight, and no more than that', () => {
    const window = spent()
    refuse(window, 16, { from: 32, beganAtMs: 0, nowMs: 0 })
    const quarterRefused = (fromMs: number, inFlight: number): void => {
      for (let nowMs = fromMs; nowMs < fromMs + 300; nowMs += 1) {
        if (nowMs % 4 > 0) window.taken(nowMs, inFlight, nowMs)
        else refuse(window, 1, { from: inFlight + 1, beganAtMs: nowMs, nowMs })
      }
    }
    // At first it is taken for too many.
    quarterRefused(1, 15)
    const size = window.room(0, 300)
    expect(size).toBeLessThan(16)
    quarterRefused(301, size - 1)
    expect(window.room(0, 600)).toBe(size)

    refuse(window, 8, { from: size, beganAtMs: 601, nowMs: 601 })
    expect(window.room(0, 601)).toBeLessThan(size)
  })

  it('lets more pass of what weighs less', () => {
    const window = createCongestionWindow()
    for (let failure = 0; failure < 12; failure += 1) window.refused(0, 63, 10, 0.4)
    expect(window.room(64, 10)).toBe(Infinity)
    window.refused(0, 63, 10, 0.4)
    expect(window.room(64, 10)).toBeLessThan(1)
  })

  it('lets no more failures pass than five and a tenth of the answers', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (steps) => {
        const window = createCongestionWindow()
        let passed = 0
        for (const [index, isTaken] of steps.entries()) {
          // Nothing grows back in no time, and what began before a change says nothing of chance.
          const before = window.room(0, 1)
          if (isTaken) window.taken(0, 63, 1)
          else window.refused(0, Math.min(before, 64) - 1, 1, 1)
          const isFull = window.room(0, 1) === before
          if (!isTaken && isFull && before > 32) passed += 1
          expect(passed).toBeLessThanOrEqual(5 + steps.slice(0, index).filter(Boolean).length / 10 + 1e-6)
        }
      }),
    )
  })

  it('lets parts go sooner or later, whatever happens', () => {
    const step = fc.record({
      isTaken: fc.boolean(),
      inFlight: fc.nat(64),
      passesMs: fc.nat(3_000),
      lastsMs: fc.nat(10_000),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const window = createCongestionWindow()
        let nowMs = 0
        for (const { isTaken, inFlight, passesMs, lastsMs } of steps) {
          nowMs += passesMs
          if (isTaken) window.taken(nowMs - lastsMs, inFlight, nowMs)
          else window.refused(nowMs - lastsMs, inFlight, nowMs, 1)
          const dueMs = window.dueMs(nowMs) ?? nowMs
          expect(dueMs - nowMs).toBeLessThanOrEqual(1_000)
          expect(window.room(0, dueMs)).toBeGreaterThanOrEqual(1)
        }
      }),
    )
  })
})

/** One to which a refusal means something at once. */
function spent(): CongestionWindow {
  const window = createCongestionWindow()
  refuse(window, 5, { from: 64, beganAtMs: 0, nowMs: 0 })
  return window
}

/** So many of those in flight are refused, one after another. `left`: how many others there are each time; default, those that are left. */
function refuse(
  window: CongestionWindow,
  count: number,
  of: { readonly from: number; readonly beganAtMs: number; readonly nowMs: number; readonly left?: number },
): void {
  for (let index = 1; index <= count; index += 1) window.refused(of.beganAtMs, of.left ?? of.from - index, of.nowMs, 1)
}
