import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createConcurrency, type ConcurrencyOptions } from '../../src/core/concurrency.ts'
import type { Concurrency } from '../../src/core/line/concurrency-sample.ts'
import { lineHearing } from '../../src/core/line/hearing.ts'

interface Line {
  /** What all connections together carry, bytes a second. */
  readonly capBytes: number
  /** What one carries at most. */
  readonly perConnectionBytes: number
}

describe('what it finds', () => {
  it('starts at 4, and stays within 1 and 64', () => {
    expect(createConcurrency().limit()).toBe(4)
    expect(createConcurrency({ max: 1 }).limit()).toBe(1)
    expect(run({ capBytes: 1e12, perConnectionBytes: 1e6 }, {}, 120).limits.at(-1)).toBe(64)
  })

  it('goes up to 64 within half a minute on a line that rewards it', () => {
    const { limits } = run({ capBytes: 1e12, perConnectionBytes: 1e6 }, {}, 30)

    expect(limits.at(-1)).toBe(64)
  })

  it('comes down to the two connections that fill a short clean line', () => {
    const { limits } = run({ capBytes: 2.5e6, perConnectionBytes: 1.25e6 }, {}, 300)

    expect(limits.at(-1)).toBeLessThanOrEqual(3)
    expect(limits.at(-1)).toBeGreaterThanOrEqual(2)
    // One trial from where it starts, and no larger than what a browser has for a host.
    expect(Math.max(...limits)).toBeLessThanOrEqual(6)
  })

  it('fills the line to nine tenths within a minute, and takes no more than twice what is needed', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 4, max: 60, noNaN: true }),
        fc.integer({ min: 10_000, max: 1e9 }),
        (needed, perConnectionBytes) => {
          const line = { capBytes: needed * perConnectionBytes, perConnectionBytes }
          const { limits, rates } = run(line, {}, 300)

          expect(Math.max(...limits)).toBeLessThanOrEqual(Math.ceil(2 * needed))
          const settled = rates.slice(60)
          expect(average(settled)).toBeGreaterThanOrEqual(0.9 * line.capBytes)
          expect(rates.at(-1)).toBeGreaterThanOrEqual(0.9 * line.capBytes)
        },
      ),
    )
  })

  it('does so also on a line whose rate wavers by 2 %', () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 60 }), fc.integer({ min: 1, max: 2 ** 31 - 1 }), (needed, seed) => {
        const line = { capBytes: needed * 1e6, perConnectionBytes: 1e6 }
        const { rates, limits } = run(line, {}, 600, wavering(seed, 0.02))

        expect(average(rates.slice(120))).toBeGreaterThanOrEqual(0.85 * line.capBytes)
        expect(Math.max(...limits)).toBeLessThanOrEqual(64)
      }),
    )
  })

  it('finds its number also when bytes are counted only at the end of parts', () => {
    const controller = createConcurrency()
    // Each connection ends a part of 16 MB every 16 s; twenty of them fill the line.
    const credit = { bytes: 0 }
    for (let second = 1; second <= 3_000; second += 1) {
      credit.bytes += Math.min(controller.limit() * 1e6, 20e6)
      const partsDone = Math.floor(credit.bytes / 16e6)
      credit.bytes -= partsDone * 16e6
      controller.onSample({ ...quiet(second, controller), partsDone, bytesSince: partsDone * 16e6 })
    }

    expect(controller.limit()).toBeGreaterThanOrEqual(16)
    expect(controller.limit()).toBeLessThanOrEqual(40)
  })

  it('follows a line that grows', () => {
    const controller = createConcurrency()
    feed(controller, { capBytes: 8e6, perConnectionBytes: 1e6 }, 0, 120)
    expect(controller.limit()).toBeLessThanOrEqual(16)
    feed(controller, { capBytes: 40e6, perConnectionBytes: 1e6 }, 120, 700)

    expect(controller.limit()).toBeGreaterThanOrEqual(36)
  })

  it('does not learn from slots that nobody uses', () => {
    const controller = createConcurrency()
    for (let second = 1; second < 200; second += 1) {
      controller.onSample({ ...quiet(second, controller), inFlight: 1, bytesSince: second * 1e6 })
    }

    expect(controller.limit()).toBe(4)
  })

  it('does not judge by a gap in time', () => {
    const controller = createConcurrency()
    controller.onSample({ ...quiet(1, controller), bytesSince: 1e6 })
    for (let hour = 1; hour < 50; hour += 1) controller.onSample({ ...quiet(hour * 3600, controller), bytesSince: 1e9 })

    expect(controller.limit()).toBe(4)
  })
})

describe('what it hears', () => {
  /** Ten samples a second with a round trip each; returns the limit after each. */
  function hear(
    controller: Concurrency,
    seconds: number,
    line: (
      ms: number,
      limit: number,
    ) => {
      readonly rate: number
      readonly roundTripMs: number
      readonly partsDone?: number
    },
  ): number[] {
    return Array.from({ length: seconds * 10 }, (_, tenth) => {
      const { rate, ...rest } = line(tenth * 100, controller.limit())
      const sample = { ...quiet(0, controller), atMs: tenth * 100, bytesSince: rate / 10, ...rest }
      controller.onSample(sample)
      return controller.limit()
    })
  }

  it('does not come down in the first half minute because of a queue: it may be that of young connections', () => {
    const limits = hear(createConcurrency({}, lineHearing()), 60, (ms) => ({
      rate: 2.5e6,
      roundTripMs: ms < 300 ? 30 : 250,
    }))

    expect(Math.min(...limits.slice(0, 290))).toBe(4)
    expect(limits.at(-1)).toBeLessThan(4)
  })

  it('tries more as soon as the rate falls without a queue, so that the line stays three quarters full', () => {
    const controller = createConcurrency({}, lineHearing())
    const rates: number[] = []
    // Four fill the line as long as they are young. From the tenth second on losses take a twentieth of what each carries
    // every second, down to a half.
    const limits = hear(controller, 30, (ms, limit) => {
      const left = Math.max(0.5, 1 - Math.max(0, ms - 10_000) / 20_000)
      const rate = Math.min(25e6, limit * 6.25e6 * left)
      rates.push(rate)
      return { rate, roundTripMs: rate >= 25e6 && ms > 300 ? 150 : 80 }
    })

    expect(Math.max(...limits.slice(0, 100))).toBe(4)
    expect(limits.at(-1)).toBeGreaterThanOrEqual(8)
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(0.75 * 25e6)
  })

  it('stays at a few to a near host where a processor holds the rate, however that wavers', () => {
    const much = fc.double({ min: 0, max: 0.15, noNaN: true })
    const others = fc.record({
      everyMs: fc.integer({ min: 3_000, max: 9_000 }),
      share: fc.double({ min: 0.3, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), much, others, (seed, amplitude, { everyMs, share }) => {
        const waver = wavering(seed, amplitude)
        const limits = hear(createConcurrency({}, lineHearing()), 60, (ms) => {
          // Half of the time another program takes some of the processor.
          const left = ms % everyMs < everyMs / 2 ? 1 : share
          return { rate: 3e9 * left * waver(), roundTripMs: 1.3 }
        })

        // What is on trial counts as well.
        expect(Math.max(...limits)).toBeLessThanOrEqual(10)
        expect(average(limits)).toBeLessThanOrEqual(7)
      }),
    )
  })

  it.each([
    [undefined, 4],
    [8, 8],
  ])('begins with as many to a near host as what prepares them takes together: %s', (near, expected) => {
    const options = near === undefined ? {} : { near }
    const limits = hear(createConcurrency(options, lineHearing()), 1, () => ({ rate: 1e9, roundTripMs: 1.3 }))

    expect(limits.slice(0, 8)).toContain(expected)
    expect(Math.max(...limits.slice(0, 8))).toBe(expected)
  })

  it.each([
    // The rate rises because the process has warmed up, not because the line has changed.
    ['small parts: sixteen, then 24', 16, 24, (ms: number) => ({ rate: ms < 1_000 ? 8e6 : 16e6, partsDone: 400 })],
    ['large ones: four, then six', 4, 6, () => ({ rate: 2e9 })],
  ])('goes to many at once for a near host, rests for two seconds, and tries few more. %s', (_, many, more, parts) => {
    const limits = hear(createConcurrency({}, lineHearing()), 6, (ms) => ({ ...parts(ms), roundTripMs: 1.3 }))
    const leaptAt = limits.indexOf(many)

    expect(leaptAt).toBeLessThanOrEqual(8)
    expect(Math.max(...limits.slice(0, leaptAt + 20))).toBe(many)
    expect(Math.max(...limits)).toBe(more)
  })

  it('finds the forty that a near host rewards', () => {
    const limits = hear(createConcurrency({}, lineHearing()), 60, (_, limit) => ({
      rate: Math.min(limit, 40) * 50e6,
      roundTripMs: 1.3,
    }))

    expect(limits.at(-1)).toBeGreaterThanOrEqual(36)
  })

  it.each([3, 6])(
    'settles within twenty seconds where a host %d ms away takes a quarter of each connection',
    (roundTripMs) => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 2 ** 31 - 1 }),
          fc.integer({ min: 60, max: 400 }),
          (seed, fallsAtSecond) => {
            const waver = wavering(seed, 0.05)
            const limits = hear(createConcurrency({}, lineHearing()), fallsAtSecond + 20, (ms, limit) => ({
              rate: Math.min(12.5e6, limit * (ms < fallsAtSecond * 1_000 ? 5e6 : 1.25e6)) * waver(),
              roundTripMs,
            }))

            expect(limits.at(-1)).toBeGreaterThanOrEqual(8)
          },
        ),
      )
    },
  )

  it.each([1_000, 2_000])('takes nothing from others whose queue is gone for %d ms now and then', (goneMs) => {
    // Their losses make room for as long as that, and more connections of ours would gain by it.
    const limits = hear(createConcurrency({}, lineHearing()), 120, (ms, limit) => {
      const isGone = ms < 200 || (ms >= 6_000 && ms % 6_000 < goneMs)
      return { rate: limit * 1e6 * (1 - (ms % 6_000) / 18_000), roundTripMs: isGone ? 105 : 165 }
    })

    expect(Math.max(...limits)).toBe(4)
  })
})

describe('its bounds', () => {
  it('hold whatever the samples say', () => {
    const sample = fc.record({
      atMs: fc.integer({ min: 0, max: 1e6 }),
      inFlight: fc.integer({ min: 0, max: 100 }),
      bytesSince: fc.integer({ min: 0, max: 1e12 }),
      partsDone: fc.integer({ min: 0, max: 1_000 }),
      roundTripMs: fc.option(fc.integer({ min: 1, max: 3_000 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 200 }), fc.boolean(), (samples, hears) => {
        const controller = createConcurrency({ start: 3, max: 11 }, hears ? lineHearing() : undefined)
        for (const one of [...samples].sort((a, b) => a.atMs - b.atMs)) {
          controller.onSample(one)
          expect(Number.isInteger(controller.limit())).toBe(true)
          expect(controller.limit()).toBeGreaterThanOrEqual(2)
          expect(controller.limit()).toBeLessThanOrEqual(11)
        }
      }),
    )
  })
})

function run(
  line: Line,
  options: ConcurrencyOptions,
  seconds: number,
  waver: () => number = () => 1,
): {
  limits: number[]
  rates: number[]
} {
  return feed(createConcurrency(options), line, 0, seconds, waver)
}

function feed(controller: Concurrency, line: Line, from: number, to: number, waver: () => number = () => 1) {
  const limits: number[] = []
  const rates: number[] = []
  for (let second = from + 1; second <= to; second += 1) {
    const limit = controller.limit()
    const rate = Math.min(line.capBytes, limit * line.perConnectionBytes)
    limits.push(limit)
    rates.push(rate)
    controller.onSample({ ...quiet(second, controller), bytesSince: rate * waver() })
  }
  return { limits, rates }
}

function quiet(second: number, controller: Concurrency) {
  return { atMs: second * 1000, inFlight: controller.limit(), bytesSince: 0, partsDone: 0 }
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** A factor around 1, from a small generator of its own, so that the seed of the property replays it. */
function wavering(seed: number, amplitude: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return 1 + amplitude * (2 * (state / 2_147_483_647) - 1)
  }
}
