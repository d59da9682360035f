// The first seconds of an upload: when the parts in flight are doubled, and when that ends.

import { describe, expect, it } from 'vitest'
import { createEarlyGrowth, type EarlySample } from '../../../src/core/line/early-growth.ts'
import { BUFFER_BYTES } from '../../../src/core/line/goodput.ts'
import { createLineRoom } from '../../../src/core/line/line-room.ts'
import type { QueueState } from '../../../src/core/line/queueing.ts'

const STEP_MS = 100
const NEAR_LIMIT = 12

interface Line {
  readonly roundTripMs?: number
  readonly queue?: (ms: number, limit: number) => QueueState
  /** Bytes a second. */
  readonly rate?: (limit: number, ms: number) => number
  /** Answered parts a second. */
  readonly parts?: number
}

/** The limit after each tenth of a second; undefined once it is over. */
function grow(line: Line, seconds = 10) {
  const { roundTripMs = 40, queue = () => 'empty', rate = (limit) => limit * 5e6, parts = 0 } = line
  const growth = createEarlyGrowth(NEAR_LIMIT)
  const room = createLineRoom()
  room.add(roundTripMs, 0)
  const limits: (number | undefined)[] = []
  let limit = 2
  for (let atMs = 0; atMs <= seconds * 1_000; atMs += STEP_MS) {
    const sample: EarlySample = {
      ...{ atMs, bytesSince: (rate(limit, atMs) * STEP_MS) / 1_000, partsDone: (parts * STEP_MS) / 1_000 },
      ...{ queue: queue(atMs, limit), leastRoundTripMs: roundTripMs, isNear: room.isNear },
    }
    const next = growth.next(sample, limit)
    limits.push(next)
    if (next === undefined) break
    limit = next
  }
  return limits
}

describe('early growth', () => {
  it('doubles every few round trips while the line has no queue', () => {
    const limits = grow({}, 3)
    expect(limits[4]).toBe(4)
    expect(limits.at(-1)).toBeGreaterThanOrEqual(64)
  })

  it('loses nothing by a time in which sources are proven and nothing goes', () => {
    const limits = grow({ rate: (limit, ms) => (ms <= 30_000 ? 0 : limit * 5e6) }, 33)

    expect(new Set(limits.slice(0, 300))).toEqual(new Set([2]))
    expect(limits.at(-1)).toBeGreaterThanOrEqual(64)
  })

  it('takes no host for near because empty files were answered while nothing else went', () => {
    const limits = grow({ roundTripMs: 2, rate: (limit, ms) => (ms <= 2_000 ? 0 : limit * 1e5), parts: 100 }, 2.5)

    expect(new Set(limits)).toEqual(new Set([2]))
  })

  // On a busy machine a round trip to itself takes one or two ms.
  const near = { roundTripMs: 2, rate: () => 4e8 }

  it('goes at once to what was asked for where the host is near and takes much, and leaves the rest to trials', () => {
    expect(grow(near)).toEqual([2, 2, NEAR_LIMIT, undefined])
  })

  it('goes to sixteen a tenth of a second earlier where 800 small parts a second are answered, however little they hold', () => {
    const small = { ...near, rate: () => 1e7, parts: 810 }
    expect(grow(small)).toEqual([2, 16, undefined])
    expect(grow({ ...small, parts: 790 }, 0.5)).not.toContain(16)
    expect(grow({ ...small, roundTripMs: 5.1 }, 0.5)).not.toContain(16)
    expect(grow({ ...small, queue: () => 'standing' }, 0.5)).not.toContain(16)
  })

  it.each([
    ['a host that is not so near', { roundTripMs: 5.1 }],
    ['a line that has a queue', { queue: () => 'standing' as const }],
    ['a gigabit', { rate: () => 1.2e8 }],
    ['buffers that fill at once before a slow line', { rate: (_: number, ms: number) => (ms < 100 ? 1e9 : 1e7) }],
  ])('doubles at most for %s', (_, line) => {
    expect(grow({ ...near, ...line }, 0.5)).not.toContain(NEAR_LIMIT)
  })

  it('takes longer steps where round trips are longer', () => {
    const limits = grow({ roundTripMs: 200 }, 2)
    expect(limits[7]).toBe(2)
    expect(limits[9]).toBe(4)
    expect(grow({ roundTripMs: 400 }, 7)).toContain(16)
  })

  it('ends when two doublings brought nothing: something else holds the rate', () => {
    const limits = grow({ rate: () => 5e6 })
    expect(limits.at(-1)).toBeUndefined()
    expect(limits.at(-2)).toBeLessThanOrEqual(8)
  })

  it('does not go on where connections do not grow beyond their first packets', () => {
    const limits = grow({ rate: (limit) => limit * 10_000 })
    expect(limits.at(-1)).toBeUndefined()
    expect(limits.at(-2)).toBe(2)
  })

  it('does not go on where grown connections send next to nothing in a round trip, though more of them send more', () => {
    const limits = grow({ roundTripMs: 200, rate: (limit) => limit * 100_000 })
    expect(limits.at(-1)).toBeUndefined()
    expect(limits.at(-2)).toBe(2)
    expect(grow({ roundTripMs: 200, rate: (limit) => limit * 150_000 })).toContain(4)
  })

  it('takes what fills the buffers of the connections that it added for no rate', () => {
    let [last, grewAtMs] = [2, 0]
    const limits = grow({
      rate(limit, ms) {
        if (limit !== last) [last, grewAtMs] = [limit, ms - STEP_MS]
        const sinceMs = ms - grewAtMs
        return sinceMs <= 100 ? 0 : sinceMs === 200 ? 9 * (limit / 2) * BUFFER_BYTES : 4e6
      },
    })

    expect(limits.at(-1)).toBeUndefined()
    expect(limits.at(-2)).toBeLessThanOrEqual(8)
  })

  it('waits while there is a queue, goes on when the rate falls without one, and ends when it stays', () => {
    const limits = grow({
      queue: (ms) => (ms < 1_500 ? 'standing' : 'empty'),
      rate: (limit, ms) => (ms < 1_500 ? 25e6 : limit * 5e6),
    })
    expect(limits[14]).toBe(2)
    expect(limits[25]).toBeGreaterThanOrEqual(4)

    const stays = grow({ queue: () => 'standing' })
    expect(stays.at(-1)).toBeUndefined()
    expect(stays.at(-2)).toBe(2)
  })

  it('does not go on at the rate that filled the line, though no queue stands for a moment', () => {
    const limits = grow({
      queue: (ms) => (ms < 1_500 ? 'standing' : 'empty'),
      rate: (_, ms) => (ms < 1_500 ? 25e6 : 23e6),
    })

    expect(limits.at(-1)).toBeUndefined()
    expect(limits).not.toContain(4)
  })

  it('forgets what was carried before a queue: what follows it is compared anew', () => {
    const isQueued = (ms: number): boolean => ms >= 700 && ms < 1_200
    const limits = grow({
      queue: (ms) => (isQueued(ms) ? 'standing' : 'empty'),
      rate: (_, ms) => (isQueued(ms) ? 40e6 : 10e6),
    })

    expect(limits).toContain(32)
  })

  it('ends where round trips cannot be measured', () => {
    const growth = createEarlyGrowth(16)
    const deaf = {
      bytesSince: 1e6,
      partsDone: 0,
      queue: 'unknown',
      leastRoundTripMs: undefined,
      isNear: () => false,
    } as const
    expect(growth.next({ ...deaf, atMs: 0 }, 2)).toBe(2)
    expect(growth.next({ ...deaf, atMs: 1_600 }, 2)).toBeUndefined()
  })
})
