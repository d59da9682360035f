import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  defaultPartSize,
  formatBytes,
  ONE_PUT_LIMITS,
  parseByteSize,
  partRange,
  planFile,
  S3_LIMITS,
} from '../../src/core/plan.ts'
import { isUploadError } from '../../src/core/errors.ts'
import type { UnitLimits } from '../../src/core/ports.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

function refusal(work: () => unknown): { code: string; message: string } {
  try {
    work()
  } catch (error) {
    if (isUploadError(error)) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('It was accepted.')
}

describe('planFile', () => {
  it('makes one empty part of an empty file', () => {
    const plan = planFile({ name: 'empty.action', sizeBytes: 0, limits: S3_LIMITS })

    expect(plan).toEqual({ partCount: 1, partSizeBytes: 1 })
    expect(partRange(plan, 0, 1)).toEqual({ start: 0, end: 0 })
  })

  it('lets a file of one part be shorter than the minimum', () => {
    expect(planFile({ name: 'a', sizeBytes: 1, limits: S3_LIMITS })).toEqual({ partCount: 1, partSizeBytes: 1 })
    expect(planFile({ name: 'a', sizeBytes: 5 * MIB, limits: S3_LIMITS })).toEqual({
      partCount: 1,
      partSizeBytes: 5 * MIB,
    })
  })

  it('evens the parts out, so that ceil(size / count) is their size', () => {
    // 3 parts of at most 10 MiB: 8 MiB each instead of 10, 10 and 4.
    expect(planFile({ name: 'a', sizeBytes: 24 * MIB, limits: S3_LIMITS, partSizeBytes: 10 * MIB })).toEqual({
      partCount: 3,
      partSizeBytes: 8 * MIB,
    })
  })

  it('never evens out below the minimum', () => {
    // Two parts of 2.5 MiB and a byte would both be too short: the first has the minimum, the last the rest.
    const sizeBytes = 5 * MIB + 1
    const plan = planFile({ name: 'a', sizeBytes, limits: S3_LIMITS, partSizeBytes: 5 * MIB })

    expect(plan).toEqual({ partCount: 2, partSizeBytes: 5 * MIB })
    expect(partRange(plan, sizeBytes, 2)).toEqual({ start: 5 * MIB, end: 5 * MIB + 1 })
  })

  it('raises the part size when the file would need more than 10,000 parts', () => {
    expect(planFile({ name: 'a', sizeBytes: 200 * GIB, limits: S3_LIMITS })).toEqual({
      partCount: 10_000,
      partSizeBytes: 21_474_837,
    })
    // Also when a smaller one was asked for.
    expect(planFile({ name: 'a', sizeBytes: 60 * GIB, limits: S3_LIMITS, partSizeBytes: 5 * MIB })).toEqual({
      partCount: 10_000,
      partSizeBytes: 6_442_451,
    })
  })

  it('makes one part of everything that goes out as one PUT, up to 5 GiB', () => {
    const plan = planFile({ name: 'a.mov', sizeBytes: 5 * GIB, limits: ONE_PUT_LIMITS, partSizeBytes: 16 * MIB })

    expect(plan).toEqual({ partCount: 1, partSizeBytes: 5 * GIB })
    expect(refusal(() => planFile({ name: 'a.mov', sizeBytes: 5 * GIB + 1, limits: ONE_PUT_LIMITS }))).toEqual({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message: '"a.mov" is too large: 5 GiB (5368709121 bytes), and at most 5 GiB (5368709120 bytes) can be sent.',
    })
  })

  it('rounds parts up to the multiple that a service asks for', () => {
    const limits = { minBytes: 256 * 1024, maxBytes: GIB, maxCount: 100, multipleOfBytes: 256 * 1024 }

    expect(planFile({ name: 'a', sizeBytes: 1_000_000, limits, partSizeBytes: 300_000 })).toEqual({
      partCount: 2,
      partSizeBytes: 524_288,
    })
  })

  it('refuses an asked part size outside the limits, before anything else happens', () => {
    const plan = (partSizeBytes: number) =>
      refusal(() => planFile({ name: 'a', sizeBytes: 1, limits: S3_LIMITS, partSizeBytes }))

    expect(plan(5 * MIB - 1)).toEqual({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message: 'The part size must be a whole number of bytes from 5242880 (5 MiB) to 5368709120 (5 GiB), not 5242879.',
    })
    expect(plan(5 * GIB + 1).code).toBe('ERR_UPLOAD_INVALID_ARGUMENT')
    expect(plan(6_000_000.5).message).toMatch(/a whole number of bytes from .+, not 6000000\.5\.$/)
    expect(plan(NaN).code).toBe('ERR_UPLOAD_INVALID_ARGUMENT')
    expect(plan(0).code).toBe('ERR_UPLOAD_INVALID_ARGUMENT')
  })

  it('refuses a size that is no number of bytes', () => {
    for (const sizeBytes of [-1, 1.5, NaN, Infinity, 2 ** 53]) {
      expect(refusal(() => planFile({ name: 'a', sizeBytes, limits: S3_LIMITS })).code).toBe(
        'ERR_UPLOAD_INVALID_ARGUMENT',
      )
    }
  })

  it.each([
    ['none', {}],
    ['a largest part of nothing', { ...S3_LIMITS, minBytes: 0, maxBytes: 0 }],
    ['no part', { ...S3_LIMITS, maxCount: 0 }],
    ['a least part above the largest', { ...S3_LIMITS, minBytes: 5_368_709_121 }],
    ['no multiple between the least and the largest', { ...S3_LIMITS, maxBytes: 6 * MIB, multipleOfBytes: 4 * MIB }],
    ['multiples of nothing', { ...S3_LIMITS, multipleOfBytes: 0 }],
  ])('refuses limits that are no limits: %s', (_what, limits) => {
    const said = refusal(() => planFile({ name: 'a', sizeBytes: 1, limits: limits as UnitLimits }))

    expect(said.message).toBe('The limits of a part leave no room for one.')
  })

  it('covers every byte exactly once, within every limit, for any file and any limits', () => {
    fc.assert(
      fc.property(limitsAndFile(), ({ limits, sizeBytes, partSizeBytes }) => {
        const plan = planFile({
          name: 'a',
          sizeBytes,
          limits,
          ...(partSizeBytes === undefined ? {} : { partSizeBytes }),
        })

        expect(plan.partCount).toBe(Math.max(1, Math.ceil(sizeBytes / plan.partSizeBytes)))
        expect(plan.partCount).toBeLessThanOrEqual(limits.maxCount)
        expect(plan.partSizeBytes).toBeLessThanOrEqual(limits.maxBytes)
        if (plan.partCount > 1) {
          expect(plan.partSizeBytes).toBeGreaterThanOrEqual(limits.minBytes)
          expect(plan.partSizeBytes % limits.multipleOfBytes).toBe(0)
        }
        let at = 0
        for (let partNumber = 1; partNumber <= plan.partCount; partNumber += 1) {
          const { start, end } = partRange(plan, sizeBytes, partNumber)
          expect(start).toBe(at)
          if (partNumber < plan.partCount) expect(end - start).toBe(plan.partSizeBytes)
          else if (sizeBytes > 0) expect(end).toBeGreaterThan(start)
          at = end
        }
        expect(at).toBe(sizeBytes)
      }),
    )
  })

  it('has parts of exactly ceil(size / count) wherever only the count of parts decides', () => {
    const limits = { ...S3_LIMITS, minBytes: 1 }
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 * GIB }), fc.integer({ min: MIB, max: GIB }), (sizeBytes, asked) => {
        const plan = planFile({ name: 'a', sizeBytes, limits, partSizeBytes: asked })

        expect(plan.partSizeBytes).toBe(Math.ceil(sizeBytes / plan.partCount))
      }),
    )
  })
})

describe('partRange', () => {
  it('refuses a part that the plan does not have', () => {
    const plan = { partCount: 2, partSizeBytes: 10 }

    expect(refusal(() => partRange(plan, 15, 0)).code).toBe('ERR_UPLOAD_INTERNAL')
    expect(refusal(() => partRange(plan, 15, 3)).code).toBe('ERR_UPLOAD_INTERNAL')
    expect(partRange(plan, 15, 2)).toEqual({ start: 10, end: 15 })
  })
})

describe('defaultPartSize', () => {
  it('is a 128th of the file between 5 MiB and 16 MiB', () => {
    expect(defaultPartSize(0)).toBe(5 * MIB)
    expect(defaultPartSize(640 * MIB)).toBe(5 * MIB)
    expect(defaultPartSize(1280 * MIB)).toBe(10 * MIB)
    expect(defaultPartSize(2048 * MIB)).toBe(16 * MIB)
    expect(defaultPartSize(100 * GIB)).toBe(16 * MIB)
  })

  it('is larger where fewer parts are asked for, within the same bounds', () => {
    expect(defaultPartSize(640 * MIB, 64)).toBe(10 * MIB)
    expect(defaultPartSize(64 * MIB, 64)).toBe(5 * MIB)
    expect(defaultPartSize(2048 * MIB, 64)).toBe(16 * MIB)
  })
})

describe('parseByteSize', () => {
  it.each([
    ['16MiB', 16_777_216],
    ['5MB', 5_000_000],
    ['1048576', 1_048_576],
    ['2GB', 2_000_000_000],
    ['512KB', 512_000],
    ['512 kib', 524_288],
    ['1.5GiB', 1_610_612_736],
    [' 7b ', 7],
    ['0', 0],
    ['0.1MB', 100_000],
  ])('reads %s as %d bytes', (text, bytes) => {
    expect(parseByteSize(text)).toBe(bytes)
  })

  it.each(['', 'MB', '-5MB', '5 potatoes', '1.5', '0.5B', '5MBit', '1e9', '99999999TB', '5,5MB', '5MB extra'])(
    'refuses %j and says how to write it',
    (text) => {
      const { code, message } = refusal(() => parseByteSize(text))

      expect(code).toBe('ERR_UPLOAD_INVALID_ARGUMENT')
      expect(message).toBe(`"${text}" is not a size in whole bytes: write it like 16MiB, 5MB or 1048576.`)
    },
  )

  it('refuses bits, which are eight times less', () => {
    expect(refusal(() => parseByteSize('20Mb')).message).toBe(
      '"20Mb" is a number of bits; sizes are in bytes: write MB or MiB.',
    )
  })
})

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [1536, '1.5 KiB'],
    [1_048_575, '1 MiB'],
    [5 * GIB, '5 GiB'],
    [48_828 * GIB, '47.7 TiB'],
    [1023 * 1024 * GIB, '1023 TiB'],
    [1024 ** 5, '1024 TiB'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text)
  })

  it('writes what parseByteSize reads, to a twentieth of a unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (bytes) => {
        const [, number, unit] = /^([\d.]+) (\w+)$/.exec(formatBytes(bytes))!
        const unitBytes = parseByteSize(`1${unit}`)
        expect(Math.abs(Number(number) * unitBytes - bytes)).toBeLessThanOrEqual(0.05 * unitBytes + 1e-6)
      }),
    )
  })
})

function limitsAndFile(): fc.Arbitrary<{ limits: UnitLimits; sizeBytes: number; partSizeBytes: number | undefined }> {
  return fc
    .record({
      minBytes: fc.integer({ min: 0, max: 5_000 }),
      maxMultiples: fc.integer({ min: 1, max: 40 }),
      maxCount: fc.integer({ min: 1, max: 300 }),
      multipleOfBytes: fc.constantFrom(1, 7, 256),
      slackBytes: fc.integer({ min: 0, max: 6 }),
      fill: fc.double({ min: 0, max: 1, noNaN: true }),
      asked: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
    })
    .map(({ minBytes, maxMultiples, maxCount, multipleOfBytes, slackBytes, fill, asked }) => {
      const largest = Math.ceil(minBytes / multipleOfBytes) * multipleOfBytes + maxMultiples * multipleOfBytes
      const maxBytes = largest + Math.min(slackBytes, multipleOfBytes - 1)
      const limits = { minBytes, maxBytes, maxCount, multipleOfBytes }
      const sizeBytes = Math.floor(fill * maxCount * largest)
      const low = Math.max(1, minBytes)
      return {
        limits,
        sizeBytes,
        partSizeBytes: asked === undefined ? undefined : low + Math.floor(asked * (maxBytes - low)),
      }
    })
}
