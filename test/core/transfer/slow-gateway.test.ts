// A gateway that takes whole parts at once, as fast as they come, and answers each only when it has passed it on over a slow line
// of its own, which all parts share: a proxy that buffers bodies, or one that looks for viruses.

import { expect, it } from 'vitest'
import { createWorld } from '../../simulation/world.ts'

const TICK_MS = 500
const PARTS = 240

it.each([2, 0.5, 0.1])(
  'that passes on %f parts a second is not sent more than it can answer in time',
  async (aSecond) => {
    /** The parts on its line, each with the share of it that is still to go. */
    const passing = new Map<() => void, number>()
    const tick = (): void => {
      const share = (aSecond * TICK_MS) / 1_000 / passing.size
      for (const [done, left] of passing) {
        if (left > share) passing.set(done, left - share)
        else done()
      }
      if (passing.size > 0) world.clock.setTimeout(tick, TICK_MS)
    }
    const world = createWorld({
      engine: { concurrency: 62 },
      passOn: (signal) =>
        new Promise((resolve, reject) => {
          if (passing.size === 0) world.clock.setTimeout(tick, TICK_MS)
          const done = (): void => {
            passing.delete(done)
            resolve()
          }
          passing.set(done, 1)
          signal.addEventListener('abort', () => {
            passing.delete(done)
            reject(signal.reason as Error)
          })
        }),
    })
    const job = world.job({ sources: world.sources(Array.from({ length: PARTS }, () => 100)) })

    const result = await world.until(world.engine.run(job, new AbortController().signal))

    expect(result).toEqual({ confirmedCount: PARTS, failedCount: 0 })
    // Where all that fitted were sent again each time, this took 14 times as long as the line needs, each part went 30 times, and
    // some files failed.
    expect(world.clock.monotonicNow()).toBeLessThan((1_300 * PARTS) / aSecond)
    expect(world.store.requests.length).toBeLessThan(1.7 * PARTS)
  },
)
