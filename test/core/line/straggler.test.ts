// The attempt that holds up the end of a session: found by what its neighbours carried meanwhile, and sent again.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStragglerWatch } from '../../../src/core/line/straggler.ts'
import { createWorld } from '../../simulation/world.ts'

const signal = (): AbortSignal => new AbortController().signal

interface Attempt {
  sentBytes: number
  readonly lengthBytes: number
  readonly bytesPerSecond: number
}

describe('a straggler', () => {
  it('is named at the end of a session when it crawls while others flew, and not before', () => {
    const watch = createStragglerWatch<Attempt>()
    const slow = attempt(10_000)
    const moving = [slow, attempt(200_000), attempt(220_000)]
    const named = [...seconds(watch, moving, 0, 30, false), ...seconds(watch, moving, 30, 40, true)]

    expect(named.filter((one) => one !== undefined)).not.toHaveLength(0)
    expect(named.findIndex((one) => one !== undefined)).toBeGreaterThan(30)
    expect(new Set(named)).toEqual(new Set([undefined, slow]))
  })

  it('is named when it was compared for ten seconds and suspected in three looks in a row', () => {
    const [slow, quick] = [attempt(10_000), attempt(200_000)]
    expect(firstNamed(seconds(createStragglerWatch(), [slow, quick], 0, 20, true))).toBe(12)

    const watch = createStragglerWatch<Attempt>()
    seconds(watch, [slow, quick], 0, 12, true)
    seconds(watch, [slow, quick], 12, 13, false)
    expect(firstNamed(seconds(watch, [slow, quick], 13, 20, true))).toBe(2)
  })

  it('is looked for once a second, however often it is asked', () => {
    const watch = createStragglerWatch<Attempt>()
    const moving = [attempt(10_000), attempt(200_000)]
    const named = Array.from({ length: 80 }, (_, quarter) => {
      for (const one of moving) one.sentBytes += one.bytesPerSecond / 4
      return watch.look(moving, quarter * 250, true)
    })

    expect(firstNamed(named)).toBe(48)
  })

  it('is judged by seconds in which others sent too, and in which anybody got on', () => {
    const watch = createStragglerWatch<Attempt>()
    const [slow, quick] = [attempt(10_000), attempt(200_000)]
    seconds(watch, [slow], 0, 20, true)
    for (let second = 20; second < 60; second += 1) watch.look([slow, quick], second * 1_000, true)

    expect(firstNamed(seconds(watch, [slow, quick], 60, 80, true))).toBe(11)
  })

  it('carries a quarter of what each of the others does, or less', () => {
    const named = (bytesPerSecond: number, others: number): number => {
      const moving = [attempt(bytesPerSecond), ...Array.from({ length: others }, () => attempt(200_000))]
      return firstNamed(seconds(createStragglerWatch(), moving, 0, 20, true))
    }

    expect([named(50_000, 1), named(50_000, 4), named(51_000, 1), named(51_000, 4)]).toEqual([12, 12, -1, -1])
  })

  it('is let alone where going again takes more than half as long as going on', () => {
    const moving = [{ ...attempt(10_000), sentBytes: 9_200_000 }, attempt(200_000)]

    expect(firstNamed(seconds(createStragglerWatch(), moving, 0, 20, true))).toBe(-1)
  })

  it('is never one that was handed over as a whole, or would take as long again', () => {
    const watch = createStragglerWatch<Attempt>()
    const handedOver = { ...attempt(0), sentBytes: 5_000_000, lengthBytes: 5_000_000 }
    const nearlyDone = { ...attempt(10_000), sentBytes: 4_950_000, lengthBytes: 5_400_000 }
    const moving = [handedOver, nearlyDone, attempt(100_000)]

    expect(seconds(watch, moving, 0, 40, true).every((one) => one === undefined)).toBe(true)
  })

  it('is nobody on a line that is slow as a whole, whatever it does and whoever ends first', () => {
    const rates = fc.array(fc.integer({ min: 100, max: 1_000_000 }), { minLength: 5, maxLength: 60 })
    const skews = fc.array(fc.integer({ min: 80, max: 120 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(rates, skews, (perSecond, skew) => {
        const watch = createStragglerWatch<Attempt>()
        const moving = skew.map(() => attempt(0))
        let leave = moving.length
        for (const [second, rate] of perSecond.entries()) {
          moving.forEach((one, index) => (one.sentBytes += (rate * skew[index]!) / 100))
          if (second % 7 === 6) leave = Math.max(1, leave - 1)
          expect(watch.look(moving.slice(0, leave), second * 1_000, true)).toBeUndefined()
        }
      }),
    )
  })

  it('is never one that went again often enough, and others are still compared with it', () => {
    const slow = attempt(10_000)
    const moving = [attempt(0), slow, attempt(200_000)]
    const watch = createStragglerWatch<Attempt>((one) => one !== slow)

    expect(new Set(seconds(watch, moving, 0, 40, true))).toEqual(new Set([undefined, slow]))
  })

  it('is not judged by the time in which a machine slept', () => {
    const watch = createStragglerWatch<Attempt>()
    const [slow, quick] = [attempt(0), attempt(0)]
    watch.look([slow, quick], 0, true)
    for (let step = 1; step < 6; step += 1) {
      quick.sentBytes += 500_000
      slow.sentBytes += 1
      expect(watch.look([slow, quick], step * 60_000, true)).toBeUndefined()
    }
  })
})

describe('the end of a session', () => {
  it('is not held up by one connection that crawls: its part goes again, once, never beside itself', async () => {
    const world = createWorld({
      engine: { concurrency: 4, memoryBytes: 4 * 2 * 64 * 1024 },
      // Two windows a second, and one in 25 s on the first connection of the third part.
      windowMs: ({ partNumber, isFreshConnection }) => (partNumber === 3 && !isFreshConnection ? 25_000 : 500),
    })
    const sources = world.sources([12_000_000])
    const job = world.job({ sources, partSizeBytes: 1_000_000 })

    await world.until(world.engine.run(job, signal()))

    const { requests } = world.store
    const ofThird = requests.filter(({ partNumber }) => partNumber === 3)
    expect(ofThird.map(({ isFreshConnection }) => isFreshConnection)).toEqual([false, true])
    // As long as others are left to be sent, it holds nothing up.
    expect([requests.length, requests.at(-1)]).toEqual([13, ofThird[1]])
    expect(world.store.violations).toEqual([])
    // Alone it would have taken 16 windows of 25 s; the whole session takes as long as its parts twice over, and the judging.
    expect(world.clock.monotonicNow()).toBeLessThan(60_000)
    expect(Buffer.compare(world.store.content(0, 12_000_000), sources[0]!.bytes)).toBe(0)
    expect(job.records.filter(({ type }) => type === 'part.doubtful')).toEqual([])
  })

  it('resets a part that crawls on every connection twice and no more, and another one that comes to crawl', async () => {
    const crawling = { isFirst: 1, isSecond: 8 }
    // One part after the other begins, so that there is always one to compare with; the second to crawl is late.
    const laterBy = (part: number): number => (part === crawling.isSecond ? 130 : Math.max(0, part - 2) * 60)
    const world = createWorld({
      engine: { concurrency: 10, timeouts: { stallMs: 3_600_000 }, memoryBytes: 10 * 2 * 64 * 1024 },
      windowMs({ partNumber, isFreshConnection, atMs }) {
        if (laterBy(partNumber) > 0 && atMs === 0) return 1
        const isCrawling = partNumber === crawling.isFirst || (partNumber === crawling.isSecond && !isFreshConnection)
        return isCrawling ? 900_000 : 5_000
      },
      fault: ({ partNumber, atMs }) =>
        laterBy(partNumber) > 0 && atMs === 0
          ? { kind: 'status', status: 500, headers: { 'retry-after': String(laterBy(partNumber)) } }
          : undefined,
    })
    const job = world.job({ sources: world.sources([8_000_000]), partSizeBytes: 1_000_000 })

    await world.until(world.engine.run(job, signal()))

    const connectionsOf = (part: number): boolean[] =>
      world.store.requests.flatMap(({ partNumber, isFreshConnection }) =>
        partNumber === part ? [isFreshConnection] : [],
      )
    expect(connectionsOf(crawling.isFirst)).toEqual([false, true, true])
    expect(connectionsOf(crawling.isSecond)).toEqual([false, false, true])
    expect(world.store.violations).toEqual([])
  })

  it('waits for a part that was handed over, however long its answer takes', async () => {
    const world = createWorld({
      engine: { concurrency: 4, timeouts: { answerMs: 600_000 }, memoryBytes: 4 * 2 * 64 * 1024 },
      windowMs: 100,
      fault: ({ partNumber, isFreshConnection }) =>
        partNumber === 3 && !isFreshConnection ? { kind: 'silence', phase: 'answer' } : undefined,
    })
    const job = world.job({ sources: world.sources([8_000_000]), partSizeBytes: 1_000_000 })

    await world.until(world.engine.run(job, signal()))

    expect(world.clock.monotonicNow()).toBeGreaterThan(600_000)
    expect(world.store.requests.filter(({ partNumber }) => partNumber === 3)).toHaveLength(2)
  })

  it('resets nothing when all connections are equally slow', async () => {
    const world = createWorld({ engine: { concurrency: 4, memoryBytes: 4 * 2 * 64 * 1024 }, windowMs: 20_000 })
    const job = world.job({ sources: world.sources([5_000_000]), partSizeBytes: 1_000_000 })

    await world.until(world.engine.run(job, signal()))

    expect(world.store.requests).toHaveLength(5)
  })
})

function attempt(bytesPerSecond: number): Attempt {
  return { sentBytes: 0, lengthBytes: 10_000_000, bytesPerSecond }
}

function firstNamed(named: readonly (Attempt | undefined)[]): number {
  return named.findIndex((one) => one !== undefined)
}

/** Looks once a second. */
function seconds(
  watch: ReturnType<typeof createStragglerWatch<Attempt>>,
  moving: readonly Attempt[],
  from: number,
  to: number,
  isTail: boolean,
): (Attempt | undefined)[] {
  return Array.from({ length: to - from }, (_, index) => {
    for (const one of moving) one.sentBytes += one.bytesPerSecond
    return watch.look(moving, (from + index) * 1_000, isTail)
  })
}
