// What arrived is told by the stamps at the fronts of bodies, so that nobody wins by sending the same part twice.

import { describe, expect, it } from 'vitest'
import { checkArrival, distinct, type Range } from '../../bench/measure/arrival.ts'
import { readStamp, stamp, stampAll, STAMP_EVERY_BYTES } from '../../bench/measure/stamps.ts'

const MIB = STAMP_EVERY_BYTES

describe('a stamp', () => {
  it('says which byte of which file it stands for, wherever it lies in memory', () => {
    const bytes = new Uint8Array(40)
    stamp(bytes.subarray(3), 9_999, 64 * 2 ** 30 - 16)

    expect(readStamp(bytes.subarray(3))).toEqual({ file: 9_999, at: 64 * 2 ** 30 - 16 })
    expect(readStamp(bytes)).toBeUndefined()
    expect(readStamp(bytes.subarray(3, 18))).toBeUndefined()
  })

  it('is at each MiB of a piece, but not where the piece ends within it', () => {
    const bytes = new Uint8Array(2 * MIB + 15)
    stampAll(bytes, 1, 5 * MIB)

    expect(readStamp(bytes)).toEqual({ file: 1, at: 5 * MIB })
    expect(readStamp(bytes.subarray(MIB))).toEqual({ file: 1, at: 6 * MIB })
    expect(bytes.subarray(2 * MIB).every((byte) => byte === 0)).toBe(true)
  })
})

describe('what arrived', () => {
  const check = (ranges: readonly Range[], bodyBytes = 40, isOurs = false) =>
    checkArrival(
      { load: { files: 2, bytes: 40 }, isOurs },
      { bodyBytes, ranges },
      { registered: 0, confirmed: isOurs ? 1 : 0 },
    )
  const whole: readonly Range[] = [
    [1, 10, 10],
    [0, 0, 20],
    [1, 0, 10],
  ]

  it('is a result if it is all that was to be sent, in whatever order and parts', () => {
    expect(() => check(whole)).not.toThrow()
  })

  it.each<[string, readonly Range[], string]>([
    [
      'one part twice in the place of another',
      [
        [0, 0, 20],
        [1, 10, 10],
        [1, 10, 10],
      ],
      '10 were not the files',
    ],
    [
      'parts that overlap',
      [
        [0, 0, 20],
        [1, 0, 12],
        [1, 8, 8],
      ],
      '4 were not the files',
    ],
    [
      'one file twice in the place of another',
      [
        [0, 0, 20],
        [0, 0, 20],
      ],
      '20 were not the files',
    ],
    ['bytes of no file', [[0, 0, 20]], '20 were not the files'],
    ['one file that is as long as both', [[0, 0, 40]], 'bytes of 1 files instead of 2'],
  ])('is none with %s', (_what, ranges, words) => {
    expect(() => check(ranges)).toThrow(words)
  })

  it('is none with bytes too few or too many, or where the service was told of less', () => {
    expect(() => check(whole, 39)).toThrow('39 bytes of the 40')
    expect(() => check(whole, 50)).toThrow('50 bytes of the 40')
    expect(() => check(whole, 40, true)).toThrow('told of 1 of 2 files')
  })

  it('counts a byte once that was sent again', () => {
    expect(distinct([...whole, [0, 5, 5], [1, 0, 20]])).toEqual({ bytes: 40, files: 2 })
  })
})
