// The controller on modelled lines: how much of a line it fills, how it stands beside the best fixed number, and what it
// leaves to others. Ratios of the model, which is milder than a real line; bench/line measures real TCP.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createConcurrency, fixedConcurrency } from '../../../src/core/concurrency.ts'
import { lineHearing } from '../../../src/core/line/hearing.ts'
import { fewOrMany } from '../../helpers/long-run.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'
import { createSimulatedLine, type LineSetting } from './simulated-line.ts'
import { upload, type UploadRun, type UploadSetting } from './simulated-upload.ts'

const MIB = 1024 ** 2
const lossy: LineSetting = { roundTripMs: 80, megabitsPerSecond: 200, lossPercent: 0.05, queueMs: 80 }
const veryLossy = { ...lossy, lossPercent: 0.5 }
const narrow: LineSetting = { roundTripMs: 30, megabitsPerSecond: 20, lossPercent: 0, queueMs: 250 }
const far: LineSetting = { roundTripMs: 200, megabitsPerSecond: 50, lossPercent: 0, queueMs: 200 }
const hundred: LineSetting = { roundTripMs: 40, megabitsPerSecond: 100, lossPercent: 0, queueMs: 100 }
const large = { partBytes: 5 * MIB, parts: 103, untilMs: 200_000 }
const endless = { partBytes: 5 * MIB, parts: Infinity, untilMs: 60_000 }
const SEEDS = fewOrMany([1, 2, 3], [1, 2, 3, 4, 5])

/** An upload with as many parts in flight as the controller finds, or with a fixed number of them. */
function run(line: LineSetting, setting: UploadSetting, seed: number, fixed?: number): UploadRun {
  const hearing = setting.isProbing === false ? undefined : lineHearing()
  const controller = fixed === undefined ? createConcurrency({}, hearing) : fixedConcurrency(fixed)
  return upload(createSimulatedLine(line, seededRandom(seed)), controller, setting)
}

/** Payload of the whole run, share of what the line carries. */
function share({ tenths, endedMs }: UploadRun, { megabitsPerSecond }: LineSetting): number {
  return (sum(tenths.map(({ ownBytes }) => ownBytes)) * 8) / endedMs / 1_000 / megabitsPerSecond
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN
}

function most({ tenths }: UploadRun): number {
  return Math.max(...tenths.map(({ inFlight }) => inFlight))
}

describe('the controller on a line of its own', () => {
  it('fills eight tenths of a far line with a little loss, growing and ending included', () => {
    const shares = SEEDS.map((seed) => share(run(lossy, large, seed), lossy))

    expect(median(shares)).toBeGreaterThanOrEqual(0.8)
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.65)
  })

  it('carries nine tenths of the best fixed number where much is lost', () => {
    const shares = SEEDS.map((seed) => share(run(veryLossy, large, seed), veryLossy))
    const best = [16, 32, 64].map((fixed) =>
      median(SEEDS.map((seed) => share(run(veryLossy, large, seed, fixed), veryLossy))),
    )

    expect(median(shares)).toBeGreaterThanOrEqual(0.9 * Math.max(...best))
  })

  it('fills a short, narrow line with at most four connections', () => {
    for (const seed of SEEDS) {
      const one = run(narrow, { partBytes: 5 * MIB, parts: 19, untilMs: 200_000 }, seed)
      expect(share(one, narrow)).toBeGreaterThanOrEqual(0.95)
      expect(most(one)).toBeLessThanOrEqual(4)
    }
  })

  it('fills a very far line with small files', () => {
    const shares = SEEDS.map((seed) => share(run(far, { partBytes: 1.2e6, parts: 300, untilMs: 200_000 }, seed), far))

    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.8)
  })

  it('fills a line again within twenty seconds after it fell to a tenth, and after it recovered', () => {
    const changes = [
      { atMs: 15_000, line: { ...hundred, megabitsPerSecond: 10 } },
      { atMs: 50_000, line: hundred },
    ]
    for (const seed of SEEDS) {
      const { tenths } = run(hundred, { ...endless, untilMs: 90_000, changes }, seed)
      const carried = (from: number, until: number) => sum(tenths.slice(from, until).map(({ ownBytes }) => ownBytes))
      expect((carried(350, 500) * 8) / 15 / 10e6).toBeGreaterThanOrEqual(0.85)
      expect((carried(700, 900) * 8) / 20 / 100e6).toBeGreaterThanOrEqual(0.85)
    }
  })

  it('stands beside the best fixed number on any line where round trips can be measured', () => {
    const line = fc.record({
      roundTripMs: fc.constantFrom(10, 20, 40, 80, 150, 200),
      megabitsPerSecond: fc.constantFrom(10, 20, 50, 100, 200),
      lossPercent: fc.constantFrom(0, 0, 0.01, 0.05, 0.2, 0.5),
      queueMs: fc.constantFrom(50, 100, 250),
    })
    fc.assert(
      fc.property(line, fc.integer({ min: 1, max: 2 ** 31 }), (setting, seed) => {
        const best = Math.max(...[2, 16, 64].map((fixed) => share(run(setting, endless, seed, fixed), setting)))

        expect(share(run(setting, endless, seed), setting)).toBeGreaterThanOrEqual(0.75 * best)
      }),
      { numRuns: fewOrMany(3, 30) },
    )
  })

  it('finds its way also where round trips cannot be measured', () => {
    const deaf = { ...endless, isProbing: false }
    for (const setting of fewOrMany([veryLossy, narrow, far], [lossy, veryLossy, narrow, far, hundred])) {
      const best = Math.max(...[2, 8, 32, 64].map((fixed) => share(run(setting, deaf, 1, fixed), setting)))
      expect(share(run(setting, deaf, 1), setting)).toBeGreaterThanOrEqual(0.6 * best)
    }
  })
})

describe('the controller beside others', () => {
  /** What one of our connections gets for each byte of one of the two others after ten seconds, and how many we have. */
  function beside(seed: number, fixed?: number): { fairness: number; inFlight: number } {
    const { tenths } = run(hundred, { ...endless, others: 2, startMs: 3_000 + 1_700 * seed }, seed, fixed)
    const late = tenths.slice(100)
    const inFlight = sum(late.map((tenth) => tenth.inFlight)) / late.length
    const own = sum(late.map(({ ownBytes }) => ownBytes)) / inFlight
    return { fairness: own / sum(late.map(({ otherBytes }) => otherBytes)), inFlight }
  }

  // One of four connections that began late gets 0.8 of an older one within a minute: that is TCP's own doing.
  it('does not take a line from two others by numbers', () => {
    const ours = SEEDS.map((seed) => beside(seed))
    const four = SEEDS.map((seed) => beside(seed, 4).fairness)

    expect(median(ours.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(8)
    expect(median(ours.map(({ fairness }) => fairness))).toBeGreaterThanOrEqual(0.8 * median(four))
    expect(Math.max(...ours.map(({ fairness }) => fairness))).toBeLessThanOrEqual(2)
  })
})
