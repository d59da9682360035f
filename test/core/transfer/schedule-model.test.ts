// The schedule beside its own rules, written out naively: whatever happens in whatever order, both choose the same.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Unit } from '../../../src/core/ports.ts'
import { createSchedule } from '../../../src/core/transfer/schedule.ts'
import type { Turn } from '../../../src/core/transfer/turn.ts'
import { naiveSchedule } from './naive-schedule.ts'

const MINUTE_MS = 60_000

/** The units of a file, of these lengths. */
function unitsOf(fileIndex: number, lengths: readonly number[]): Unit[] {
  return lengths.map((length, index) => ({
    fileIndex,
    partNumber: index + 1,
    start: 4 * index,
    end: 4 * index + length,
  }))
}

const file = fc.nat(3)
const lengths = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 })
/** From now on; some exactly where a rule begins. */
const deadline = fc.option(
  fc
    .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: -1, max: 1 }))
    .map(([minutes, ms]) => minutes * MINUTE_MS + ms),
  { nil: undefined, freq: 1 },
)
const nth = fc.nat(8)

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ what: fc.constant('add' as const), file, lengths, deadline }) },
  { weight: 8, arbitrary: fc.record({ what: fc.constant('take' as const), isProbe: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ what: fc.constant('take' as const), isProbe: fc.constant(false) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ what: fc.constant('putBack' as const), nth, delayMs: fc.nat(30) },
      ...{ isTried: fc.boolean(), isSourceBusy: fc.boolean() },
    }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('settle' as const), nth }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('restart' as const), file, lengths, deadline }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('drop' as const), file }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('hold' as const), nth, isHeld: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('wait' as const), ms: fc.constantFrom(1, 10, MINUTE_MS, 2 * MINUTE_MS) }),
  },
)

it('chooses as its rules say, whatever happens in whatever order', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('any' as const, 'next' as const),
      fc.array(lengths, { minLength: 1, maxLength: 3 }),
      fc.array(step, { maxLength: 60 }),
      (order, files, steps) => {
        const [schedule, naive] = [createSchedule(order), naiveSchedule(order)]
        const both = [schedule, naive]
        /** What was given out and did not come back; of a file that began anew since as well. */
        const out: Turn[] = []
        // A multiple of a minute, so that deadlines lie on both sides of one.
        let nowMs = 10 * MINUTE_MS
        files.forEach((each, fileIndex) => both.forEach((one) => one.add(unitsOf(fileIndex, each))))
        for (const each of steps) {
          if (each.what === 'wait') nowMs += each.ms
          if (each.what === 'hold' && out[each.nth])
            both.forEach((one) => one.hold(out[each.nth]!.unit.fileIndex, each.isHeld))
          if (each.what === 'drop') both.forEach((one) => one.drop(each.file))
          if (each.what === 'add' || each.what === 'restart') {
            const units = unitsOf(each.file, each.lengths)
            const untilMs = each.deadline === undefined ? undefined : nowMs + each.deadline
            both.forEach((one) =>
              each.what === 'add' ? one.add(units, untilMs) : one.restart(each.file, units, untilMs),
            )
          }
          if (each.what === 'take') {
            const turn = schedule.take(nowMs, each.isProbe)
            expect(turn).toEqual(naive.take(nowMs, each.isProbe))
            if (turn !== undefined) out.push(turn)
          }
          if (each.what === 'settle' || each.what === 'putBack') {
            const [turn] = out.splice(each.nth, 1)
            if (turn === undefined) continue
            const again = {
              ...turn,
              attempt: turn.attempt + Number(each.what === 'putBack' && each.isTried),
              isSourceBusy: each.what === 'putBack' && each.isSourceBusy,
            }
            both.forEach((one) =>
              each.what === 'settle' ? one.settle(turn) : one.putBack(again, nowMs + each.delayMs),
            )
          }
          for (const isProbe of [false, true])
            expect(schedule.readyCount(nowMs, isProbe)).toBe(naive.readyCount(nowMs, isProbe))
          expect(schedule.nextDueMs(nowMs)).toBe(naive.nextDueMs(nowMs))
        }
      },
    ),
    { numRuns: 1_000 },
  )
})
