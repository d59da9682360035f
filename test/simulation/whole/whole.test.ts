// Tests the whole client under simulated nights: an Uplink with its machines, flows, protocols, engine and journal, against a
// model of a misbehaving service and storage, or of a store that the host signs for, through crashes, suspends, and hosts that change their mind, even in the middle of
// what they are told. The long run and `npm run simulate` run more nights.

import { describe, expect, it } from 'vitest'
import { fewOrMany } from '../../helpers/long-run.ts'
import { MUTANTS } from './mutants.ts'
import { runNight } from './run-night.ts'

const NIGHTS = fewOrMany(1_000, 10_000)
const FIRST_SEED = Number(process.env['FC_SEED'])
/** The same nights in every run. The rarest bug shows in one of five hundred. */
const FIRST_MUTANT_SEED = 77_000
const MOST_NIGHTS_FOR_A_MUTANT = 10_000

describe('the client under simulated nights', () => {
  it(`keeps every promise in ${NIGHTS} of them`, async () => {
    const totals = { parts: 0, deaths: 0, closes: 0, faults: 0, steps: 0, replaced: 0 }
    const ends = new Set<string | undefined>()
    for (let seed = FIRST_SEED; seed < FIRST_SEED + NIGHTS; seed += 1) {
      const outcome = await runNight(seed)
      if (outcome.violations.length > 0) throw await brokenPromise(seed)
      totals.parts += outcome.partCount
      totals.deaths += outcome.deathCount
      totals.closes += outcome.closeCount
      totals.faults += outcome.faultCount
      totals.steps += outcome.stepCount
      totals.replaced += Math.max(0, outcome.sessionCount - 1)
      ends.add(outcome.status)
    }

    // Quiet nights alone would prove nothing.
    expect(totals.parts / NIGHTS).toBeGreaterThan(10)
    expect(totals.steps / NIGHTS).toBeGreaterThan(50)
    expect(totals.deaths).toBeGreaterThan(NIGHTS / 10)
    expect(totals.closes).toBeGreaterThan(NIGHTS / 50)
    expect(totals.faults).toBeGreaterThan(NIGHTS / 2)
    expect(totals.replaced).toBeGreaterThan(NIGHTS / 100)
    expect([...ends]).toEqual(expect.arrayContaining(['confirmed', 'partial', 'cancelled']))
  })

  it('are the same, to the last line of their log, for the same seed', async () => {
    for (const seed of [1, 15, 92, 322]) {
      const [first, second] = [await runNight(seed, { isLogged: true }), await runNight(seed, { isLogged: true })]

      expect(first.log.length).toBeGreaterThan(10)
      expect(second).toEqual(first)
    }
  })
})

describe('signals that stand for the platform’s', () => {
  it('change nothing in a night', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + NIGHTS / 20; seed += 1) {
      const night = await runNight(seed, { isLogged: true })

      expect(await runNight(seed, { isLogged: true, hasPlatformSignals: true })).toEqual(night)
    }
  })
})

describe('the simulation', () => {
  it.each(Object.entries(MUTANTS))('finds a client that %s', async (_, mutant) => {
    const found = await firstBroken(mutant)

    expect(found).toBeLessThan(MOST_NIGHTS_FOR_A_MUTANT)
  })
})

/** The number of nights that passed before the bug was seen. */
async function firstBroken(mutant: (typeof MUTANTS)[string]): Promise<number> {
  for (let night = 0; night < MOST_NIGHTS_FOR_A_MUTANT; night += 1) {
    const { violations } = await runNight(FIRST_MUTANT_SEED + night, { mutant })
    if (violations.length > 0) return night
  }
  return Number.POSITIVE_INFINITY
}

async function brokenPromise(seed: number): Promise<Error> {
  const { violations, log } = await runNight(seed, { isLogged: true })
  const end = log.slice(-60).join('\n')
  return new Error(
    `${violations.join('\n')}\n\n${end}\n\nReplay with: npm run simulate -- --runs 1 --seed ${String(seed)}`,
  )
}
