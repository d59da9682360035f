// The line's queue, read from round trips.

import { describe, expect, it } from 'vitest'
import { createQueueing } from '../../src/core/queueing.ts'

describe('the queue of the line', () => {
  it('is unknown before two fresh round trips, and again when they have grown old', () => {
    const queueing = createQueueing()
    expect(queueing.state(0)).toBe('unknown')
    queueing.add(30, 0)
    expect(queueing.state(0)).toBe('unknown')
    queueing.add(31, 100)
    expect(queueing.state(100)).toBe('short')
    expect(queueing.state(6_000)).toBe('unknown')
  })

  it('is full when round trips take half as long again as the least one, and 30 ms', () => {
    const queueing = createQueueing()
    for (const roundTripMs of [80, 149, 149]) queueing.add(roundTripMs, 0)
    expect(queueing.state(0)).toBe('short')
    for (const roundTripMs of [151, 151]) queueing.add(roundTripMs, 0)
    expect(queueing.state(0)).toBe('full')
  })

  it('is not full because one packet was lost', () => {
    const queueing = createQueueing()
    for (const roundTripMs of [20, 21, 1_020]) queueing.add(roundTripMs, 0)
    expect(queueing.state(0)).toBe('short')
  })

  it('follows a route that became longer, once the shorter one is long past', () => {
    const queueing = createQueueing()
    queueing.add(10, 0)
    for (let at = 0; at < 64; at += 1) queueing.add(200, at)
    expect(queueing.state(64)).toBe('short')
  })
})
