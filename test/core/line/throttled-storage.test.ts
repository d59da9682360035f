// The controller before a storage that refuses: single refusals by chance, a limit of requests a second, and everything for a while.

import { describe, expect, it } from 'vitest'
import { createConcurrency, type ConcurrencyOptions } from '../../../src/core/concurrency.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'
import { sendTo, tokenBucket, type StorageRun, type StorageSetting } from './simulated-storage.ts'

const SEEDS = [1, 2, 3, 4, 5]
const small = { serviceMs: 200, refusalMs: 50, partBytes: 100_000 }

function run(
  setting: Partial<StorageSetting>,
  seconds: number,
  seed: number,
  options: ConcurrencyOptions = {},
): StorageRun['seconds'] {
  const random = seededRandom(seed)
  const refuses = (): boolean => false
  return sendTo({ ...small, refuses, ...setting }, createConcurrency(options), seconds * 1_000, random).seconds
}

function sum(seconds: StorageRun['seconds'], what: 'done' | 'refused'): number {
  return seconds.reduce((total, second) => total + second[what], 0)
}

/** When the limit is there for the first time from then on, seconds. */
function reaches(seconds: StorageRun['seconds'], limit: number, from = 0): number {
  const index = seconds.slice(from).findIndex((second) => second.limit >= limit)
  return index < 0 ? Infinity : index
}

describe('a storage that refuses some parts by chance', () => {
  it.each([
    [0.02, 0.9],
    [0.05, 0.8],
  ])('takes nearly as many of them in a minute as one that refuses none: at a share of %f', (share, least) => {
    for (const seed of SEEDS) {
      const chance = seededRandom(100 + seed)
      const done = sum(run({ refuses: () => chance() < share }, 60, seed), 'done')

      expect(done / sum(run({}, 60, seed), 'done'), `seed ${String(seed)}`).toBeGreaterThanOrEqual(least)
    }
  })

  it('takes them also where parts are large and answers few', () => {
    for (const seed of SEEDS) {
      const chance = seededRandom(100 + seed)
      const large = { serviceMs: 8_000, partBytes: 16e6 }
      const many = { start: 32, max: 32 }
      const done = sum(run({ ...large, refuses: () => chance() < 0.02 }, 300, seed, many), 'done')

      expect(done / sum(run(large, 300, seed, many), 'done'), `seed ${String(seed)}`).toBeGreaterThanOrEqual(0.8)
    }
  })
})

describe('a storage that takes so many requests a second', () => {
  it.each([
    [50, 50],
    [50, 200],
    [100, 50],
    [100, 200],
    [250, 50],
  ])('gets nine tenths of %d, and few that it refuses after %d ms', (requestsPerSecond, refusalMs) => {
    for (const seed of SEEDS) {
      const seconds = run({ refusalMs, refuses: tokenBucket(requestsPerSecond) }, 300, seed).slice(30)
      const [done, refused] = [sum(seconds, 'done'), sum(seconds, 'refused')]

      expect(done / seconds.length, `seed ${String(seed)}`).toBeGreaterThanOrEqual(0.9 * requestsPerSecond)
      expect(refused / (done + refused), `seed ${String(seed)}`).toBeLessThanOrEqual(0.15)
    }
  })

  it('is asked for more soon after it takes more', () => {
    for (const seed of SEEDS) {
      const limited = tokenBucket(50)
      const seconds = run({ refuses: (nowMs) => nowMs < 20_000 && limited(nowMs) }, 60, seed)

      expect(reaches(seconds, 64, 20), `seed ${String(seed)}`).toBeLessThanOrEqual(30)
    }
  })
})

describe('a storage that refuses everything for ten seconds', () => {
  it.each([1, 0.9])(
    'is let alone, and has all connections back as soon as they came at first: at a share of %f',
    (share) => {
      for (const seed of SEEDS) {
        const chance = seededRandom(100 + seed)
        const refuses = (nowMs: number): boolean => nowMs >= 20_000 && nowMs < 30_000 && chance() < share
        const seconds = run({ refuses }, 60, seed)

        expect(seconds[29]?.limit, `seed ${String(seed)}`).toBeLessThanOrEqual(8)
        expect(reaches(seconds, 64, 30), `seed ${String(seed)}`).toBeLessThanOrEqual(reaches(seconds, 64) + 5)
      }
    },
  )
})

describe('a storage that takes so many at once, and refuses the others at once', () => {
  const storage = (most: number): Partial<StorageSetting> => ({
    ...{ serviceMs: 200, refusalMs: 10 },
    refuses: (_, taking) => taking >= most,
  })

  it.each([1, 2, 8, 32])('takes nearly all that it can, %d, and is seldom asked for more', (most) => {
    for (const seed of SEEDS) {
      const all = run(storage(most), 120, seed, { start: 64, max: 64 })
      const settled = all.slice(2)

      // The storage's own pace wavers by a fifth, and slots are filled every 10 ms.
      expect(sum(settled, 'done') / settled.length, `seed ${String(seed)}`).toBeGreaterThanOrEqual(0.85 * most * 5)
      // At most the 64 that are under way, half of them again and half of those; later a few for each step up.
      expect(sum(all.slice(0, 2), 'refused'), `seed ${String(seed)}`).toBeLessThanOrEqual(2 * 64)
      expect(sum(settled, 'refused') / settled.length, `seed ${String(seed)}`).toBeLessThanOrEqual(1)
    }
  })

  it('has most of what it can take in use for twenty minutes, and is seldom asked for more', () => {
    const seconds = run(storage(30), 1_200, 1, { start: 4, max: 64 })
    const limits = seconds.slice(60).map(({ limit }) => limit)

    expect(limits.reduce((total, limit) => total + limit, 0) / limits.length).toBeGreaterThanOrEqual(15)
    expect(Math.max(...limits)).toBeLessThanOrEqual(45)
    expect(limits.filter((limit) => limit <= 30).length).toBeGreaterThan(0.9 * limits.length)
    expect(sum(seconds, 'refused')).toBeLessThan(200)
  })

  it('has all connections soon after it takes all', () => {
    for (const seed of SEEDS) {
      const refuses = (nowMs: number, taking: number): boolean => nowMs < 20_000 && taking >= 8
      const seconds = run({ ...storage(8), refuses }, 60, seed, { start: 64, max: 64 })

      expect(reaches(seconds, 64, 20), `seed ${String(seed)}`).toBeLessThanOrEqual(25)
    }
  })
})
