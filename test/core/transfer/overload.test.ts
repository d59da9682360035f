// A storage that takes so many parts at once, and refuses any other at once: how often it is asked for more than it takes, and how long
// an upload then takes. Every refusal counts.
//
// What counts is when the last file was asked for the first time. How long all of it takes may be the doing of a single part: one that is
// refused near the end waits its own pause, and of a hundred thousand one is broken six times in a row, which may take half a minute.

import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../helpers/seeded-random.ts'
import type { Fault, StoreRequest } from '../../simulation/object-store.ts'
import { addressesOf, testProtocol } from '../../simulation/test-protocol.ts'
import { createWorld } from '../../simulation/world.ts'

const ANSWER_MS = 50
/** A part that was refused three times waits no longer before it is sent again. */
const LONGEST_THIRD_PAUSE_MS = 2_000
const FILES = 1_000
const signal = (): AbortSignal => new AbortController().signal

interface Setting {
  /** So many at once are taken. */
  readonly most?: number
  /** Refused besides, by chance. */
  readonly share?: number
  /** So many a second are taken, and so many at once where none came for a while; default: as many. */
  readonly aSecond?: number
  readonly burst?: number
  /** How that is said. Default: by a 503, and at once. */
  readonly no?: Fault
  readonly isPoisoned?: (fileIndex: number) => boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly concurrency: number | 'auto'
  readonly files?: number
  /** Default 8. Some file needs more by chance where each broken connection counts as a whole try. */
  readonly retries?: number
}

/** The time that files take where so many are taken at once, and nothing is refused. */
function timeOf(atOnce: number, files = FILES): number {
  return (files / atOnce) * ANSWER_MS
}

/** `begunMs`: when the last file was asked for the first time. `othersMs`: the last request for any but the first file. */
async function send(setting: Setting) {
  const {
    most = Infinity,
    share = 0,
    aSecond = Infinity,
    burst = aSecond,
    isPoisoned,
    headers = {},
    concurrency,
    files = FILES,
    retries = 8,
  } = setting
  const no: Fault = setting.no ?? { kind: 'status', status: 503, headers, afterMs: 2 }
  const seed = Number(process.env['FC_SEED'] ?? 1)
  const random = seededRandom(seed)
  let taking: number[] = []
  let refused = 0
  let [leave, leaveAtMs] = [burst, 0]
  const fault = ({ atMs, fileIndex }: StoreRequest): Fault | undefined => {
    taking = taking.filter((beganMs) => atMs < beganMs + ANSWER_MS)
    if (aSecond < Infinity) leave = Math.min(burst, leave + ((atMs - leaveAtMs) / 1_000) * aSecond)
    leaveAtMs = atMs
    if (leave >= 1 && taking.length < most && random() >= share && isPoisoned?.(fileIndex) !== true) {
      leave -= 1
      taking.push(atMs)
      return undefined
    }
    refused += 1
    return no
  }
  const world = createWorld({ answerMs: ANSWER_MS, fault, engine: { random, concurrency, retries } })
  const job = world.job({ sources: world.sources(Array.from({ length: files }, () => 100)) })
  const result = await world.until(world.engine.run(job, signal()))
  const othersMs = Math.max(...world.store.requests.flatMap(({ fileIndex, atMs }) => (fileIndex === 0 ? [] : [atMs])))
  const outages = job.events.filter(({ type }) => type === 'unreachable').length
  const ms = world.clock.monotonicNow()
  // The earliest request of each file comes last here, and stays.
  const begins = new Map(world.store.requests.map(({ fileIndex, atMs }) => [fileIndex, atMs] as const).reverse())
  const begunMs = Math.max(...begins.values())
  return { seed, result, othersMs, refused, ms, begunMs, outages, pending: world.clock.pending }
}

/** Refuses what comes beyond so many at once. */
function takesAtOnce(most: number) {
  let taking: number[] = []
  return ({ atMs }: StoreRequest): Fault | undefined => {
    taking = taking.filter((beganMs) => atMs < beganMs + ANSWER_MS)
    if (taking.length >= most) return { kind: 'status', status: 503, afterMs: 2 }
    taking.push(atMs)
    return undefined
  }
}

describe('a storage that takes so many at once', () => {
  it('is asked for addresses of no more files than go soon: those of the others would grow old', async () => {
    const files = 2_000
    const world = createWorld({ answerMs: ANSWER_MS, fault: takesAtOnce(1), engine: { concurrency: 64 } })
    const sources = world.sources(Array.from({ length: files }, () => 100))
    const job = world.job({ sources, protocol: testProtocol({ addressing: 'batches', batchSize: 10 }) })
    const waiting: number[] = []
    const running = world.engine.run(
      {
        ...job,
        report: (event) => {
          job.report(event)
          if (event.type === 'fileState' && job.ledger.confirmedCount === files / 2)
            waiting.push(job.ledger.files.filter(({ state }) => state === 'ready').length)
        },
      },
      signal(),
    )
    await world.until(running)

    expect(Math.max(...waiting)).toBeGreaterThan(0)
    expect(Math.max(...waiting)).toBeLessThan(64)
  })

  it('does not stand still for addresses that are asked for in large batches and come late', async () => {
    const world = createWorld({ answerMs: ANSWER_MS, fault: takesAtOnce(4), engine: { concurrency: 64 } })
    const batchSize = 100
    const job = world.job({
      sources: world.sources(Array.from({ length: FILES }, () => 100)),
      protocol: testProtocol({ addressing: 'batches', batchSize }),
      async replenish(planned) {
        await new Promise<void>((resolve) => void world.clock.setTimeout(resolve, 1_000))
        const files = planned.slice(0, batchSize).map(({ plan }) => addressesOf(plan))
        await job.record({ type: 'files.registered', files })
      },
    })
    await world.until(world.engine.run(job, signal()))

    expect(world.clock.monotonicNow()).toBeLessThan(1.1 * timeOf(4))
  })

  it.each([
    [1, 64],
    [2, 64],
    [8, 64],
    [32, 64],
    [8, 16],
    [8, 9],
    [8, 'auto'],
    [1, 'auto'],
  ] as const)(
    'of %i is seldom asked for more, with %s of ours, and takes nearly what it can',
    async (most, concurrency) => {
      const { seed, result, refused, ms, begunMs, pending } = await send({ most, concurrency })

      expect({ seed, result, pending }).toEqual({ seed, result: { confirmedCount: FILES, failedCount: 0 }, pending: 0 })
      // The first round trips, each of which leaves half of what is too much; then a few for each step up, every time twice as late.
      const mostOfOurs = concurrency === 'auto' ? 64 : concurrency
      const steps = Math.log2(mostOfOurs / most) + Math.log2(ms / 1_000) + 2
      expect({ seed, refused, isFew: refused <= 3 * mostOfOurs + 8 * steps }).toMatchObject({ isFew: true })
      if (concurrency === 'auto') return
      expect({ seed, begunMs, isQuick: begunMs <= 1.1 * timeOf(most) }).toMatchObject({ isQuick: true })
      // No part is refused a fourth time, after which it might wait for longer.
      expect({ seed, ms, isOver: ms <= begunMs + ANSWER_MS + LONGEST_THIRD_PAUSE_MS }).toMatchObject({ isOver: true })
    },
  )

  it.each([16, 64])(
    'and says when to come back is asked by each part no earlier, while the others go on, of %i',
    async (concurrency) => {
      const { result, refused, ms, outages } = await send({ most: 8, concurrency, headers: { 'retry-after': '60' } })

      expect(result).toEqual({ confirmedCount: FILES, failedCount: 0 })
      expect(refused).toBeLessThanOrEqual(3 * concurrency + 12)
      // All others are through when those that were refused may come back, which is before the second minute.
      expect(ms).toBeLessThanOrEqual(80_000)
      // Refusals that come before the first answer are no word of the host that it is out of service.
      expect(outages).toBe(0)
    },
  )
})

describe('a storage that counts the requests of a second', () => {
  it.each([
    [2, 2],
    [5, 5],
    [20, 20],
    [20, 2],
    [20, 1],
  ])(
    'and takes %i of them, and %i at once, is asked little more often, and done in little more time than it needs',
    async (aSecond, burst) => {
      for (const concurrency of [1, 16]) {
        const { seed, result, refused, ms } = await send({ aSecond, burst, concurrency, files: 500 })

        expect(result).toEqual({ confirmedCount: 500, failedCount: 0 })
        expect({ seed, ms, isQuick: ms <= ((burst === 1 ? 2.5 : 1.4) * 500_000) / aSecond + 3_000 }).toMatchObject({
          isQuick: true,
        })
        expect({ seed, refused, isFew: refused <= 64 + 1.4 * 500 }).toMatchObject({ isFew: true })
      }
    },
  )
})

describe('a storage that refuses a part now and then', () => {
  it.each([16, 64])('gets as many at once as before, of %i', async (concurrency) => {
    const files = 2_000
    const { seed, result, begunMs } = await send({ concurrency, files, share: 0.02 })

    expect(result).toEqual({ confirmedCount: files, failedCount: 0 })
    expect({ seed, begunMs, isQuick: begunMs <= 1.1 * timeOf(concurrency, files) }).toMatchObject({ isQuick: true })
  })

  it.each([
    [4, 0.2, 3],
    [16, 0.2, 10],
    [16, 0.3, 22],
  ])('of %i parts at once bears a share of %f, which fewer would not lessen', async (concurrency, share, times) => {
    const { seed, result, begunMs } = await send({ concurrency, share })

    expect(result).toEqual({ confirmedCount: FILES, failedCount: 0 })
    expect({ seed, begunMs, isQuick: begunMs <= times * timeOf(concurrency) }).toMatchObject({ isQuick: true })
  })

  it('because of one file alone does not get the others later for that', async () => {
    for (const concurrency of [1, 4]) {
      const one = await send({ concurrency, files: 2_000, isPoisoned: (fileIndex) => fileIndex === 0 })

      expect(one.result).toEqual({ confirmedCount: 1_999, failedCount: 1 })
      expect(one.othersMs).toBeLessThanOrEqual(1.02 * timeOf(concurrency, 2_000))
    }
  })
})

describe('a large file of which no part is ever taken', () => {
  it.each([4, 16])('does not get the others much later, of %i', async (concurrency) => {
    const fault = ({ fileIndex }: StoreRequest): Fault | undefined =>
      fileIndex === 0 ? { kind: 'status', status: 503 } : undefined
    const world = createWorld({ answerMs: 500, fault, engine: { concurrency } })
    const sizes = [100_000, ...Array.from({ length: 6 }, () => 200_000)]
    const job = world.job({ partSizeBytes: 1_000, sources: world.sources(sizes) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 6, failedCount: 1 })
    const othersMs = world.store.requests.flatMap(({ fileIndex, atMs }) => (fileIndex === 0 ? [] : [atMs]))
    expect(Math.max(...othersMs)).toBeLessThanOrEqual((1_200 / concurrency) * 500 + 300_000)
  })
})

describe('a host that breaks every connection beyond so many', () => {
  it.each([
    [8, 64],
    [32, 64],
    [8, 'auto'],
  ] as const)('of %i loses few of them, with %s of ours, and takes nearly what it can', async (most, concurrency) => {
    const { result, refused, ms } = await send({ most, concurrency, no: { kind: 'reset', share: 0 }, retries: 50 })

    expect(result).toEqual({ confirmedCount: FILES, failedCount: 0 })
    expect(refused).toBeLessThanOrEqual(300)
    if (concurrency !== 'auto') expect(ms).toBeLessThanOrEqual(1.3 * timeOf(most))
  })
})

describe('a line that breaks one connection in seven', () => {
  it.each([4, 16])('carries as many parts at once as before, of %i', async (concurrency) => {
    const no = { kind: 'reset', share: 0.5 } as const
    const { seed, result, begunMs } = await send({ concurrency, share: 1 / 7, no, retries: 50 })

    expect(result).toEqual({ confirmedCount: FILES, failedCount: 0 })
    expect({ seed, begunMs, isQuick: begunMs <= 1.1 * timeOf(concurrency) }).toMatchObject({ isQuick: true })
  })
})
