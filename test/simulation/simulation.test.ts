// Simulates a night's uploads by the hundred, each drawn from one seed: files, sizes, part sizes, concurrency, faults,
// pauses. The checkers must hold whatever happens. A failure prints its seed, and `SIM_SEED=<seed>` runs that one alone.

import { describe, expect, it } from 'vitest'
import { fewOrMany } from '../helpers/long-run.ts'
import { simulate } from './simulate.ts'

const given = process.env['SIM_SEED']
const first = Math.floor(Math.random() * 2 ** 31)
const runs = Number(process.env['SIM_RUNS'] ?? fewOrMany(30, 600))
const seeds = given === undefined ? Array.from({ length: runs }, (_, index) => first + index) : [Number(given)]
/** Seeds that once found a bug. */
const REGRESSIONS: readonly number[] = []

// A busy machine is slow. A run that hangs is detected in simulated time.
describe('the engine under a simulated night', () => {
  it.each(['any', 'next'] as const)('keeps its promises where the parts of a file go in order %s', async (order) => {
    for (const seed of [...REGRESSIONS, ...seeds]) {
      const outcome = await simulate(seed, order).catch((error: unknown) => {
        throw new Error(`Simulation failed: replay with SIM_SEED=${String(seed)} (order ${order})`, { cause: error })
      })
      expect(outcome.violations, `SIM_SEED=${String(seed)}`).toEqual([])
    }
  })

  // A simulation without faults would prove nothing. These nights are the same in every run: a few drawn ones may be lucky.
  it.each(['any', 'next'] as const)(
    'meets more faults than there are nights where the parts go in order %s',
    async (order) => {
      let faults = 0
      for (let seed = 1; seed <= 60; seed += 1) faults += (await simulate(seed, order)).faultCount

      expect(faults).toBeGreaterThan(60)
    },
  )

  it('is the same for the same seed', async () => {
    const outcomes = [await simulate(4711, 'any'), await simulate(4711, 'any')]

    expect(outcomes[0]).toEqual(outcomes[1])
    expect(outcomes[0]!.requestCount).toBeGreaterThan(0)
  })
})
