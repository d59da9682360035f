import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHttpDateMs, retryAfterOf } from '../../src/core/retry-after.ts'

describe('retryAfterOf', () => {
  const now = 784_111_777_000 // Sun, 06 Nov 1994 08:49:37 GMT
  const replyWith = (value?: string) => ({ headers: value === undefined ? {} : { 'retry-after': value } })

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['-5', 0],
    ['1.5', 1_500],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
    ['Sun Nov  6 08:50:37 1994', 60_000],
    ['Sun, 06 Nov 1994 07:00:00 GMT', 0],
    ['120, 120', 120_000],
    ['3,40', 40_000],
    ['soon, 4', 4_000],
    ['30, Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['Sunday, 06-Nov-94 08:50:37 GMT, Sun, 06 Nov 1994 08:51:37 GMT, 5', 120_000],
  ])('reads %j', (value, ms) => {
    expect(retryAfterOf(replyWith(value), now)).toBe(ms)
  })

  it.each([
    undefined,
    '',
    'soon',
    '1e3',
    '0x10',
    '12 s',
    'soon, later',
    ',',
    '9'.repeat(400),
    'Sun, 32 Feb 1994 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 PST',
  ])('does not understand %j', (value) => {
    expect(retryAfterOf(replyWith(value), now)).toBeUndefined()
  })

  it('reads every date as the platform does', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        expect(parseHttpDateMs(date.toUTCString())).toBe(Math.floor(date.getTime() / 1000) * 1000)
      }),
    )
  })
})
