// Whether the line has room, and whether it is nobody else's.

import { describe, expect, it } from 'vitest'
import { createLineRoom } from '../../../src/core/line/line-room.ts'

/** One round trip each tenth of a second. */
function heard(...roundTripsMs: (number | undefined)[]) {
  const room = createLineRoom()
  roundTripsMs.forEach((roundTripMs, at) => room.add(roundTripMs, at * 100))
  return room
}

describe('room on the line', () => {
  it('is not known where round trips cannot be measured', () => {
    const room = heard(undefined, undefined)
    expect(room.isDeaf()).toBe(true)
    expect(room.isNear()).toBe(false)
    expect(room.hasRoom()).toBe(false)
    expect(room.isAlone()).toBe(false)
  })

  it('is not known of a host so near and so quick that its queues are no longer than what round trips wait anyway', () => {
    const taking = (rate: number, ...latelyMs: number[]) => {
      const room = heard(...Array.from({ length: 30 }, () => 4), ...latelyMs)
      room.took(rate)
      room.took(1e6)
      return room
    }
    const near = taking(4e8)
    expect(near.isNear()).toBe(true)
    expect(near.isDeaf()).toBe(true)
    expect(near.hasRoom()).toBe(false)
    expect(near.isAlone()).toBe(false)
    // A queue that is longer shows there as well.
    expect(taking(4e8, 90, 90, 90).isDeaf()).toBe(false)
    expect(taking(4e8, 90, 90, 90).hasRoom()).toBe(false)

    const sameTown = taking(1.2e8)
    expect(sameTown.isNear()).toBe(false)
    expect(sameTown.isNear(4e8)).toBe(true)
    expect(sameTown.isDeaf()).toBe(false)
    expect(sameTown.hasRoom()).toBe(true)
    expect(sameTown.isAlone()).toBe(true)
    expect(heard(5, 5, 5).isNear(4e8)).toBe(false)
  })

  it('is there until a queue has stood for a second and a half', () => {
    const queued = (tenths: number) => heard(40, 40, 40, ...Array.from({ length: tenths }, () => 90))
    expect(queued(15).hasRoom()).toBe(true)
    expect(queued(17).hasRoom()).toBe(false)
  })

  it('is nobody else’s once there was no queue for two and a half seconds', () => {
    const flat = (tenths: number) => heard(...Array.from({ length: tenths }, () => 40))
    expect(flat(26).isAlone()).toBe(false)
    expect(flat(27).isAlone()).toBe(true)
    expect(heard(...Array.from({ length: 27 }, () => 40), 90, 90).isAlone()).toBe(true)
    expect(heard(...Array.from({ length: 27 }, () => 40), 90, 90, 90).isAlone()).toBe(false)
  })

  it('is nobody else’s also where single round trips wait for a busy machine', () => {
    expect(heard(...Array.from({ length: 30 }, (_, at) => (at % 3 === 2 ? 75 : 40))).isAlone()).toBe(true)
  })

  it('is not hidden by a busy machine, which keeps round trips waiting as long as it does samples', () => {
    const busy = (roundTripMs: number, lateMs: number) => {
      const room = createLineRoom()
      for (let ms = 0; ms <= 4_000; ms += 100) room.add(ms === 0 ? 80 : roundTripMs, ms, lateMs)
      return room
    }
    expect(busy(110, 0).isAlone()).toBe(false)
    expect(busy(110, 15).isAlone()).toBe(true)
    expect(busy(110, 15).leastMs()).toBe(80)
    // However late everything is, a long queue shows.
    expect(busy(160, 200).hasRoom()).toBe(false)
  })

  it('is somebody else’s where a queue that was always there is low for a second now and then', () => {
    const room = createLineRoom()
    for (let ms = 0; ms < 60_000; ms += 200) {
      // From 105 to 165 ms and back to the least, every six seconds.
      const phase = (ms % 6_000) / 6_000
      room.add(105 + 60 * Math.sqrt(phase), ms)
      expect(room.isAlone()).toBe(false)
    }
  })
})
