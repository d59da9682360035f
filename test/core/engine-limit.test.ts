// The engine under a limit of its rate.

import { describe, expect, it } from 'vitest'
import { refold } from '../simulation/memory-job.ts'
import { createWorld } from '../simulation/world.ts'

const signal = (): AbortSignal => new AbortController().signal

describe('a limit of bytes a second', () => {
  it('is kept over all parts together, and no stall is judged while waiting for it', async () => {
    const world = createWorld({ engine: { limitRate: 1_000, concurrency: 4 } })
    const job = world.job({ sources: world.sources([200_000, 200_000]), partSizeBytes: 50_000 })

    await world.until(world.engine.run(job, signal()))

    // 400,000 bytes at 1,000 a second; what went last was paid for by those before it.
    expect(world.store.requests).toHaveLength(8)
    expect(world.clock.monotonicNow()).toBeGreaterThan(360_000)
    expect(world.clock.monotonicNow()).toBeLessThanOrEqual(400_000)
  })

  it('is kept by so few parts at once that an end loses little of what was sent', async () => {
    const world = createWorld({ engine: { limitRate: 10_000, concurrency: 'auto' } })
    const job = world.job({ sources: world.sources([1_000_000]), partSizeBytes: 50_000 })
    const controller = new AbortController()
    world.clock.setTimeout(() => controller.abort(new Error('closed')), 15_000)

    await expect(world.until(world.engine.run(job, controller.signal))).rejects.toThrow('closed')

    expect(job.records.filter(({ type }) => type === 'part.received')).toHaveLength(2)
  })

  it.each([500, 600_000])('is kept by as few in the next session, %i ms later', async (idleMs) => {
    const world = createWorld({ engine: { limitRate: 100_000, concurrency: 'auto' } })
    const caps: number[] = []
    for (let session = 0; session < 4; session += 1) {
      const job = world.job({ sources: world.sources([1_000_000]), partSizeBytes: 100_000 })
      await world.until(world.engine.run(job, signal()))
      caps.push(world.engine.stats().cap)
      await world.clock.advance(idleMs)
    }

    expect(caps).toEqual([2, 2, 2, 2])
  })

  it('is reached, too, where an answer takes as long as its part', async () => {
    const world = createWorld({ engine: { limitRate: 100_000, concurrency: 'auto' }, answerMs: 2_000 })
    const sizes = Array.from({ length: 300 }, () => 20_000)

    await world.until(world.engine.run(world.job({ sources: world.sources(sizes), partSizeBytes: 20_000 }), signal()))

    // At the limit it is a minute. Two parts at once would take five.
    expect(world.clock.monotonicNow()).toBeLessThan(100_000)
  })

  it('gets back what an aborted attempt had taken and did not send', async () => {
    const world = createWorld({ engine: { limitRate: 1_000, concurrency: 4 } })
    const sources = world.sources([60_000])
    const job = world.job({ sources, partSizeBytes: 15_000 })
    const controller = new AbortController()
    world.clock.setTimeout(() => controller.abort(new Error('paused')), 1_000)
    await expect(world.until(world.engine.run(job, controller.signal))).rejects.toThrow('paused')

    await world.until(world.engine.run(world.job({ sources, partSizeBytes: 15_000, ledger: refold(job) }), signal()))

    // Without the bytes given back, what the pause threw away would be paid for a second time.
    expect(world.clock.monotonicNow()).toBeLessThan(62_000)
  })
})
