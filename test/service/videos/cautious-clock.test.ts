import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { cautiousClock } from '../../../src/service/videos/cautious-clock.ts'

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR

/** What the clock shows after each step of the two others. */
function shown(startMs: number, steps: readonly { readonly wall: number; readonly steady: number }[]): number[] {
  let [wall, steady] = [startMs, 5_000]
  const clock = cautiousClock(
    () => wall,
    () => steady,
  )
  return steps.map((step) => {
    wall += step.wall
    steady += step.steady
    return clock()
  })
}

describe('the cautious clock', () => {
  it('goes with a wall clock that is right', () => {
    expect(shown(YEAR, [{ wall: HOUR, steady: HOUR }, { wall: HOUR, steady: HOUR }])).toEqual([YEAR + HOUR, YEAR + 2 * HOUR]) // prettier-ignore
  })

  it('does not follow a jump forward', () => {
    expect(shown(YEAR, [{ wall: YEAR, steady: HOUR }, { wall: HOUR, steady: HOUR }])).toEqual([YEAR + HOUR, YEAR + 2 * HOUR]) // prettier-ignore
  })

  it('follows a wall clock that was ahead at the start and is put right', () => {
    expect(shown(2 * YEAR, [{ wall: -YEAR, steady: HOUR }, { wall: HOUR, steady: HOUR }])).toEqual([YEAR, YEAR + HOUR]) // prettier-ignore
  })

  it('is never ahead of the wall clock, and gains no more than really passes', () => {
    const step = fc.record({ wall: fc.integer({ min: -YEAR, max: YEAR }), steady: fc.nat(YEAR) })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let [wall, last] = [YEAR, YEAR]
        for (const [index, time] of shown(YEAR, steps).entries()) {
          wall += steps[index]!.wall
          expect(time).toBeLessThanOrEqual(Math.min(wall, last + steps[index]!.steady))
          last = time
        }
      }),
    )
  })
})
