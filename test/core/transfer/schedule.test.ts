// The schedule: which part goes next, without time of its own.

import { growth } from '../../helpers/growth.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Unit } from '../../../src/core/ports.ts'
import { createSchedule, type Schedule } from '../../../src/core/transfer/schedule.ts'
import type { Turn } from '../../../src/core/transfer/turn.ts'

const unit = (fileIndex: number, partNumber: number): Unit => ({ fileIndex, partNumber, start: 0, end: 1 })
const units = (fileIndex: number, count: number): Unit[] =>
  Array.from({ length: count }, (_, index) => unit(fileIndex, index + 1))

describe('a schedule in any order', () => {
  it('gives files of one size in the order in which they came, and their parts in order', () => {
    const schedule = createSchedule('any')
    schedule.add(units(1, 2))
    schedule.add(units(0, 2))

    expect([schedule.readyCount(0), ...takeAll(schedule, 0)]).toEqual([4, '1/1', '1/2', '0/1', '0/2'])
    expect(schedule.readyCount(0)).toBe(0)
  })

  it('finishes the file with the least left before it begins another', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 6))
    for (let taken = 0; taken < 3; taken += 1) schedule.settle(schedule.take(0)!)
    schedule.add(units(1, 4))
    schedule.add([{ ...unit(2, 1), end: 2 }])

    const order = Array.from({ length: 8 }, () => {
      const turn = schedule.take(0)!
      schedule.settle(turn)
      return name(turn)
    })
    expect(order).toEqual(['2/1', '0/4', '0/5', '0/6', '1/1', '1/2', '1/3', '1/4'])
  })

  it('gives nothing of a file that is held, new or put back before, and all of it in the old order afterwards', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 4))
    schedule.add(units(1, 5))
    const [first, second] = [schedule.take(0)!, schedule.take(0)!]
    schedule.putBack(first, 10)
    schedule.putBack(second, 20)

    schedule.hold(0, true)

    expect([schedule.readyCount(30), schedule.nextDueMs(0)]).toEqual([5, undefined])
    expect(takeAll(schedule, 30)).toEqual(['1/1', '1/2', '1/3', '1/4', '1/5'])
    schedule.hold(0, false)
    expect([schedule.readyCount(10), schedule.readyCount(30), schedule.nextDueMs(0)]).toEqual([3, 4, 10])
    expect(takeAll(schedule, 30)).toEqual(['0/1', '0/2', '0/3', '0/4'])
  })

  it('gives again of a file that is held only what is put back meanwhile', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 4))
    const [first, second] = [schedule.take(0)!, schedule.take(0)!]
    schedule.putBack(first, 10)
    schedule.hold(0, true)
    schedule.putBack(second, 20)

    expect([schedule.readyCount(10), schedule.nextDueMs(10), schedule.take(10)]).toEqual([0, 20, undefined])
    expect(takeAll(schedule, 20)).toEqual(['0/2'])
    schedule.hold(0, false)
    expect(takeAll(schedule, 20)).toEqual(['0/1', '0/3', '0/4'])
  })

  it('forgets with a restart that a file was held, and what waited for that', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 2))
    schedule.putBack(schedule.take(0)!, 10)
    schedule.hold(0, true)

    schedule.restart(0, units(0, 1))
    schedule.hold(0, false)

    expect(takeAll(schedule, 30)).toEqual(['0/1'])
  })

  it('keeps a quarter of the slots, and no more, for the file that came first, so that a huge one moves meanwhile', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 100).map((each) => ({ ...each, end: 1_000 })))
    for (let file = 1; file <= 100; file += 1) schedule.add([unit(file, 1)])

    // Sixteen slots; small parts are done at once, those of the huge file take as long as 25 small ones.
    const running: { turn: Turn; until: number }[] = []
    let mostHuge = 0
    for (let now = 0; now < 60; now += 1) {
      for (const done of running.filter(({ until }) => until <= now)) {
        running.splice(running.indexOf(done), 1)
        schedule.settle(done.turn)
      }
      while (running.length < 16 && schedule.readyCount(now) > 0) {
        const turn = schedule.take(now)!
        running.push({ turn, until: now + (turn.unit.fileIndex === 0 ? 25 : 1) })
      }
      const huge = running.filter(({ turn }) => turn.unit.fileIndex === 0).length
      // All small ones went through twelve slots.
      if (now < Math.floor(100 / 12)) mostHuge = Math.max(mostHuge, huge)
    }
    expect(mostHuge).toBe(4)
  })

  it('gives files whose addresses are about to die before all others, one by one', () => {
    const schedule = createSchedule('any')
    const minutes = (count: number): number => count * 60_000
    schedule.add(units(0, 1), minutes(60))
    schedule.add(units(1, 3), minutes(8))
    schedule.add(units(2, 3), minutes(4))
    schedule.add(units(3, 2), minutes(4) + 500)
    schedule.add([unit(4, 1)], minutes(-1))

    expect(takeAll(schedule, 0)).toEqual(['3/1', '3/2', '2/1', '2/2', '2/3', '0/1', '4/1', '1/1', '1/2', '1/3'])
  })

  it('keeps a part back until its time, and lets it go before new ones then', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 3))
    const turn = schedule.take(0)!
    schedule.putBack({ ...turn, attempt: 2 }, 500)

    expect([schedule.readyCount(499), schedule.nextDueMs(0), name(schedule.take(499))]).toEqual([2, 500, '0/2'])
    expect([schedule.readyCount(500), schedule.nextDueMs(500), name(schedule.take(500))]).toEqual([2, undefined, '0/1'])
  })

  it('probes with a part that waits also before its time, where no other is left', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 1))
    schedule.putBack(schedule.take(0)!, 60_000)

    expect([name(schedule.take(1)), name(schedule.take(1, true))]).toEqual(['none', '0/1'])
  })

  it('probes before its time with no part that waits for its source', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 1))
    schedule.add(units(1, 1))
    schedule.putBack({ ...schedule.take(0)!, isSourceBusy: true }, 30_000)
    schedule.putBack(schedule.take(0)!, 60_000)

    expect([name(schedule.take(1, true)), name(schedule.take(1, true))]).toEqual(['1/1', 'none'])
    expect(name(schedule.take(30_000, true))).toBe('0/1')
  })

  it('gives nothing else of a file while a part of it waits for its source', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 3))
    const [first, second] = [schedule.take(0)!, schedule.take(0)!]
    for (const turn of [first, second]) schedule.putBack({ ...turn, isSourceBusy: true }, 30_000)

    expect([name(schedule.take(29_999)), schedule.readyCount(30_000)]).toEqual(['none', 1])
    expect(takeAll(schedule, 30_000)).toEqual(['0/2'])
    schedule.hold(0, false)
    expect(takeAll(schedule, 30_000)).toEqual(['0/1', '0/3'])
  })

  it('lets parts of the same time go in the order in which they were put back', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 3))
    const turns = [schedule.take(0)!, schedule.take(0)!, schedule.take(0)!]
    for (const index of [1, 2, 0]) schedule.putBack(turns[index]!, 10)

    expect(takeAll(schedule, 10)).toEqual(['0/2', '0/3', '0/1'])
  })

  it('gives nothing of a dropped file, also not what is put back, added or begun anew later', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 3))
    const [out, waiting] = [schedule.take(0)!, schedule.take(0)!]
    schedule.add(units(1, 1))
    schedule.putBack(waiting, 5)

    schedule.drop(0)
    // Before anything else could take it out: what waited is gone at once.
    expect(schedule.readyCount(9)).toBe(1)
    schedule.putBack(out, 5)
    schedule.add([unit(0, 3)])
    schedule.restart(0, units(0, 3))

    expect([schedule.readyCount(9), schedule.nextDueMs(0), ...takeAll(schedule, 9)]).toEqual([1, undefined, '1/1'])
  })

  it('takes nothing back that was given out before the file began anew', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 2))
    const old = schedule.take(0)!

    schedule.restart(0, units(0, 2))
    schedule.putBack(old, 0)

    expect([schedule.readyCount(0), ...takeAll(schedule, 0)]).toEqual([2, '0/1', '0/2'])
  })

  it('takes up parts again of a file that had nothing left', () => {
    const schedule = createSchedule('any')
    schedule.add(units(0, 2))
    for (const turn of [schedule.take(0)!, schedule.take(0)!]) schedule.settle(turn)

    schedule.add([unit(0, 2)])

    expect([schedule.readyCount(0), ...takeAll(schedule, 0)]).toEqual([1, '0/2'])
  })
})

describe('a schedule with one writer per file', () => {
  it('gives one part of a file at a time, in order', () => {
    const schedule = createSchedule('next')
    schedule.add(units(0, 2))
    schedule.add(units(1, 2))

    expect(schedule.readyCount(0)).toBe(2)
    const [first, other] = [schedule.take(0)!, schedule.take(0)!]
    expect([name(first), name(other), schedule.take(0)]).toEqual(['0/1', '1/1', undefined])
    schedule.settle(first)
    expect(schedule.readyCount(0)).toBe(1)
    const second = schedule.take(0)!
    expect([name(second), schedule.take(0)]).toEqual(['0/2', undefined])
    schedule.settle(second)
    schedule.settle(other)
    expect(takeAll(schedule, 0)).toEqual(['1/2'])
  })

  it('gives no later part while an earlier one waits to be tried again', () => {
    const schedule = createSchedule('next')
    schedule.add(units(0, 2))
    const turn = schedule.take(0)!
    schedule.putBack(turn, 100)

    expect([schedule.readyCount(99), schedule.take(99)]).toEqual([0, undefined])
    expect(name(schedule.take(100))).toBe('0/1')
    expect(schedule.readyCount(100)).toBe(0)
  })
})

describe('any schedule', () => {
  it('loses nothing, gives nothing twice at once, and says before how much it can give', () => {
    const action = fc.constantFrom('take', 'probe', 'settle', 'putBack', 'wait')
    fc.assert(
      fc.property(
        fc.constantFrom('any' as const, 'next' as const),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
        fc.array(action, { maxLength: 60 }),
        (order, counts, actions) => {
          const schedule = createSchedule(order)
          counts.forEach((count, fileIndex) => schedule.add(units(fileIndex, count)))
          const out: Turn[] = []
          const done: string[] = []
          let now = 0
          const step = (what: string): void => {
            if (what === 'wait') now += 10
            if (what === 'take' || what === 'probe') {
              // A probe has the host's time, and none of its part's own.
              const ready = schedule.readyCount(now, what === 'probe')
              const turn = schedule.take(now, what === 'probe')
              expect(turn !== undefined).toBe(ready > 0)
              if (turn === undefined) return
              expect(out.map(name)).not.toContain(name(turn))
              if (order === 'next') expect(out.map((one) => one.unit.fileIndex)).not.toContain(turn.unit.fileIndex)
              out.push(turn)
              return
            }
            const turn = out.shift()
            if (turn === undefined) return
            if (what === 'putBack') schedule.putBack(turn, now + 7)
            else {
              schedule.settle(turn)
              done.push(name(turn))
            }
          }
          actions.forEach(step)
          for (let guard = 0; guard < 200; guard += 1)
            step(['wait', guard % 2 ? 'take' : 'probe', 'settle'][guard % 3]!)
          const all = counts.flatMap((count, fileIndex) => units(fileIndex, count)).map((each) => name({ unit: each }))
          expect(done.sort()).toEqual(all.sort())
        },
      ),
    )
  })

  it.each(['any', 'next'] as const)(
    'grows with the number of files that all wait, not with its square (%s)',
    async (order) => {
      const wait = (files: number) => {
        const schedule = createSchedule(order)
        for (let file = 0; file < files; file += 1) schedule.add([unit(file, 1)])
        for (let round = 0; round < files; round += 1) {
          schedule.readyCount(0)
          schedule.nextDueMs(0)
          schedule.putBack(schedule.take(0)!, 1 + (round % 97))
        }
        expect(takeAll(schedule, 100)).toHaveLength(files)
      }

      expect(await growth(wait, 1_000, 10_000)).toBeLessThan(15)
    },
  )
})

function name(turn: { readonly unit: Unit } | undefined): string {
  return turn === undefined ? 'none' : `${String(turn.unit.fileIndex)}/${String(turn.unit.partNumber)}`
}

function takeAll(schedule: Schedule, nowMs: number): string[] {
  const taken: string[] = []
  for (let turn = schedule.take(nowMs); turn !== undefined; turn = schedule.take(nowMs)) taken.push(name(turn))
  return taken
}
