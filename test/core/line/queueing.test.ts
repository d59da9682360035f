// The line's queue, read from round trips.

import { describe, expect, it } from 'vitest'
import { createQueueing } from '../../../src/core/line/queueing.ts'

function heard(...roundTripsMs: number[]) {
  const queueing = createQueueing()
  roundTripsMs.forEach((roundTripMs, at) => queueing.add(roundTripMs, at))
  return queueing
}

describe('the queue of the line', () => {
  it('is unknown before two fresh round trips, and again when they have grown old', () => {
    expect(heard().state(0)).toBe('unknown')
    expect(heard(30).state(0)).toBe('unknown')
    expect(heard(30, 31).state(100)).toBe('empty')
    expect(heard(30, 31).state(6_000)).toBe('unknown')
    expect(heard(30, 90).state(100)).toBe('unknown')
  })

  it('is empty at times where one of the newest round trips did not wait', () => {
    expect(heard(30).isEmptyAtTimes(0)).toBe(false)
    expect(heard(30, 90).isEmptyAtTimes(100)).toBe(true)
    expect(heard(30, 90, 90).isEmptyAtTimes(100)).toBe(true)
    expect(heard(30, 90, 90, 90).isEmptyAtTimes(100)).toBe(false)
    expect(heard(30, 90).isEmptyAtTimes(6_000)).toBe(false)
  })

  it('stands when most waited longer than other packets under way explain', () => {
    expect(heard(30, 90, 90).state(3)).toBe('standing')
    expect(heard(30, 35, 35, 90).state(3)).toBe('empty')
    expect(heard(200, 212, 212, 290).state(3)).toBe('empty')
    expect(heard(200, 213, 213, 213).state(3)).toBe('standing')
  })

  it('does not stand because a packet was lost', () => {
    expect(heard(20, 1_020, 21).state(3)).toBe('empty')
  })

  it('is not empty because one round trip was quick: others, whose queue it is, have lost a packet', () => {
    expect(heard(139, 147, 97).state(3)).toBe('standing')
    expect(heard(139, 147, 97, 117).state(3)).toBe('standing')
    expect(heard(139, 147, 97, 98).state(3)).toBe('empty')
  })

  it('does not take a queue that stays for the line itself', () => {
    const queueing = createQueueing()
    queueing.add(30, 0)
    for (let ms = 250; ms < 540_000; ms += 250) queueing.add(250, ms)
    expect(queueing.state(540_000)).toBe('standing')
    expect(queueing.leastMs()).toBe(30)
  })

  it('follows a route that became longer, once the shorter one is ten minutes past', () => {
    const queueing = createQueueing()
    queueing.add(10, 0)
    for (let ms = 1_000; ms < 60_000; ms += 1_000) queueing.add(200, ms)
    expect(queueing.state(60_000)).toBe('standing')
    for (let ms = 60_000; ms <= 661_000; ms += 1_000) queueing.add(200, ms)
    expect(queueing.state(661_000)).toBe('empty')
    expect(queueing.leastMs()).toBe(200)
  })
})
