import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { minuteOfDay, parseTimetable } from '../../../src/core/line/timetable.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const at = (hour: number, minute = 0): number => hour * 60 + minute

describe('a limit', () => {
  it.each([
    ['2MB', 2_000_000],
    [' 512 KiB ', 524_288],
    ['1048576', 1_048_576],
    [250_000.5, 250_000.5],
    ['off', undefined],
    ['OFF', undefined],
    [undefined, undefined],
  ])('of %j is one rate all day', (limit, rate) => {
    const { rateAt } = parseTimetable(limit)

    expect([rateAt(0), rateAt(at(12)), rateAt(at(23, 59))]).toEqual([rate, rate, rate])
  })

  it('of times holds from each to the next, over midnight too, in whatever order they are given', () => {
    const { rateAt } = parseTimetable(' 23:00,off  8:00,512KB\t12:30,1MB ')

    expect([at(0), at(7, 59), at(8), at(12, 29), at(12, 30), at(22, 59), at(23), at(23, 59)].map(rateAt)).toEqual([
      ...[undefined, undefined, 512_000, 512_000, 1_000_000, 1_000_000, undefined, undefined],
    ])
  })

  it.each([
    ['', 'not a size'],
    ['fast', '"fast" is not a size'],
    ['0', 'The rate limit must be at least 1 byte a second, not 0. Write off'],
    [0, 'at least 1 byte a second, not 0. Write off'],
    [-5, 'at least 1 byte a second'],
    [NaN, 'at least 1 byte a second'],
    [Infinity, 'at least 1 byte a second'],
    ['2Mb', 'bits'],
    ['08:00,2Mb 23:00,off', 'bits'],
    ['08:00,512KB', 'a single time'],
    ['08:00', '"08:00"'],
    ['08:00,512 KB 23:00,off', '"08:00,512", which'],
    ['24:00,1MB 08:00,off', '24:00'],
    ['08:60,1MB 09:00,off', '08:60'],
    ['08:00,1MB 8:00,off', 'two rates for 08:00'],
    ['08:00,1MB,23:00,off', '"1MB,23:00,off"'],
    [{}, 'a number or a text'],
  ])('of %j is refused, and the message says why', (limit, why) => {
    // "08:00,512" is a rate of 512 bytes; what stands alone behind it is what cannot be read.
    const pattern = why === '"08:00,512", which' ? '"KB", which' : why
    expect(() => parseTimetable(limit as string)).toThrow(
      expect.objectContaining({
        code: 'ERR_UPLOAD_INVALID_ARGUMENT',
        message: expect.stringContaining(pattern) as string,
      }),
    )
  })

  it('has for every minute the rate of the last time that has come', () => {
    const times = fc.uniqueArray(fc.integer({ min: 0, max: 1439 }), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 1439 }), (minutes, minute) => {
        const two = (value: number): string => String(value).padStart(2, '0')
        const text = minutes
          .map((each) => `${two(Math.floor(each / 60))}:${two(each % 60)},${String(each + 1)}`)
          .join(' ')

        // Walks back from the minute, around midnight if need be.
        let back = minute
        while (!minutes.includes(back)) back = (back + 1439) % 1440
        expect(parseTimetable(text).rateAt(minute)).toBe(back + 1)
      }),
    )
  })
})

describe('the time of day', () => {
  it('is that of the zone, on both sides of midnight', () => {
    const clock = createSimulatedClock({ wallStartMs: Date.UTC(2026, 10, 20, 23, 45) })

    expect(minuteOfDay(clock)).toBe(at(23, 45))
    expect(minuteOfDay({ ...clock, wallNow: () => clock.wallNow(), utcOffsetMinutes: () => 330 })).toBe(at(5, 15))
    expect(minuteOfDay({ wallNow: () => Date.UTC(2026, 10, 20, 1), utcOffsetMinutes: () => -300 })).toBe(at(20))
    expect(minuteOfDay({ wallNow: () => -60_000 })).toBe(at(23, 59))
  })

  it('asks for the offset of the moment, so that it changes with summer time', () => {
    // In Los Angeles clocks went from 01:59:59 to 03:00 on 8 March 2026, 10:00 UTC.
    const changeMs = Date.UTC(2026, 2, 8, 10)
    const utcOffsetMinutes = (wallMs: number): number => (wallMs < changeMs ? -480 : -420)
    const { rateAt } = parseTimetable('02:30,100 08:00,200')
    const rates = [-1, 0].map((minute) =>
      rateAt(minuteOfDay({ wallNow: () => changeMs + minute * 60_000, utcOffsetMinutes })),
    )

    expect(rates).toEqual([200, 100])
  })
})
