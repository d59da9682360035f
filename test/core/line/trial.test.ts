// What becomes of another number of parts on trial.

import { describe, expect, it } from 'vitest'
import { judgeTrial, type Trial } from '../../../src/core/line/trial.ts'

const empty = { hasRoom: true, leastRoundTripMs: 80 }
const full = { hasRoom: false, leastRoundTripMs: 80 }
const deaf = { hasRoom: false, leastRoundTripMs: undefined }

function trial(fromLimit: number, limit: number, more: Partial<Trial> = {}): Trial {
  return { limit, fromLimit, fromRate: 100, isAlone: false, isFirst: false, ...more }
}

describe('a trial upwards', () => {
  it('must bring more than its share of a full line, and little on one without a queue', () => {
    expect(judgeTrial(trial(8, 16), 131, full).isKept).toBe(false)
    expect(judgeTrial(trial(8, 16), 133, full).isKept).toBe(true)
    expect(judgeTrial(trial(8, 16), 102, empty).isKept).toBe(false)
    expect(judgeTrial(trial(8, 16), 104, empty).isKept).toBe(true)
  })

  it('that is large is kept on a line that is nobody else’s, though it brought nothing yet', () => {
    expect(judgeTrial(trial(16, 32, { isAlone: true }), 90, full)).toMatchObject({ isKept: true, hasGained: false })
    expect(judgeTrial(trial(16, 32, { isAlone: true }), 59, full).isKept).toBe(false)
    expect(judgeTrial(trial(16, 20, { isAlone: true }), 99, full).isKept).toBe(false)
  })

  it('has no such leave where round trips are too short for losses to hold anything back, or unknown', () => {
    expect(judgeTrial(trial(16, 32, { isAlone: true }), 90, { hasRoom: true, leastRoundTripMs: 1 }).isKept).toBe(false)
    expect(judgeTrial(trial(16, 32, { isAlone: true }), 90, deaf).isKept).toBe(false)
  })

  it('has met the end of the line when it brought less than half of its share', () => {
    expect(judgeTrial(trial(8, 16), 149, full).isFull).toBe(true)
    expect(judgeTrial(trial(8, 16), 151, full).isFull).toBe(false)
    expect(judgeTrial(trial(8, 16), 110, empty).isFull).toBe(false)
  })

  it('has paid only as the first, with all that it could bring', () => {
    expect(judgeTrial(trial(4, 6, { isFirst: true }), 145, deaf).hasPaid).toBe(true)
    expect(judgeTrial(trial(4, 6, { isFirst: true }), 143, deaf).hasPaid).toBe(false)
    expect(judgeTrial(trial(4, 6), 150, deaf).hasPaid).toBe(false)
  })
})

describe('a trial downwards', () => {
  it('must keep the rate', () => {
    expect(judgeTrial(trial(8, 6), 98, full).isKept).toBe(true)
    expect(judgeTrial(trial(8, 6), 97, full).isKept).toBe(false)
  })

  it('is never kept on a line without a queue: nobody gains by fewer', () => {
    expect(judgeTrial(trial(8, 6), 120, empty).isKept).toBe(false)
  })
})
