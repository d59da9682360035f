import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isoTime } from '../../../src/core/time/iso-time.ts'

describe('a wall time as ISO 8601', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [951_782_400_000, '2000-02-29T00:00:00.000Z'],
    [1_795_179_900_250, '2026-11-20T13:05:00.250Z'],
  ])('%d is %s', (wallMs, text) => {
    expect(isoTime(wallMs)).toBe(text)
  })

  it('is what the platform writes, for any time of the next centuries', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000_000_000 }), (wallMs) => {
        expect(isoTime(wallMs)).toBe(new Date(wallMs).toISOString())
      }),
    )
  })
})
