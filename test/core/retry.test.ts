import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TransportError, UploadError } from '../../src/core/errors.ts'
import { backoffMs, decideRetry } from '../../src/core/retry.ts'

const half = () => 0.5

describe('backoffMs', () => {
  it('doubles its upper end up to the cap', () => {
    const longest = (attempt: number) => backoffMs(attempt, () => 1 - Number.EPSILON)

    expect([1, 2, 3, 6, 7, 8, 2_000].map(longest)).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000])
    expect(backoffMs(5, () => 0)).toBe(0)
    expect(backoffMs(3, half)).toBe(1_000)
    expect(backoffMs(20, half, 60_000)).toBe(30_000)
  })

  it('stays between 0 and its upper end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), chance(), (attempt, random) => {
        const delayMs = backoffMs(attempt, () => random)
        expect(delayMs).toBeGreaterThanOrEqual(0)
        expect(delayMs).toBeLessThanOrEqual(Math.min(30_000, 500 * 2 ** (attempt - 1)))
      }),
    )
  })
})

describe('decideRetry', () => {
  const network = new TransportError('ERR_UPLOAD_NETWORK', 'The connection was reset.', {
    ending: 'neverWhole',
    phase: 'send',
  })
  const ask = { attempt: 1, usedTries: 1, retries: 8, error: network, random: half }

  it('waits with backoff', () => {
    expect(decideRetry(ask)).toEqual({ kind: 'wait', delayMs: 250 })
    expect(decideRetry({ ...ask, attempt: 4, usedTries: 4 })).toEqual({ kind: 'wait', delayMs: 2_000 })
  })

  it('waits as long as the host asked for, and up to a tenth more', () => {
    expect(decideRetry({ ...ask, retryAfterMs: 7_000 })).toEqual({ kind: 'wait', delayMs: 7_350 })
    expect(decideRetry({ ...ask, retryAfterMs: 300_000 })).toEqual({ kind: 'wait', delayMs: 315_000 })
    expect(decideRetry({ ...ask, retryAfterMs: 0 })).toEqual({ kind: 'wait', delayMs: 250 })
    for (const none of [Number.NaN, 'Fri, 27 Nov 2026 08:00:00 GMT' as unknown as number])
      expect(decideRetry({ ...ask, retryAfterMs: none })).toEqual({ kind: 'wait', delayMs: 250 })
    expect(decideRetry({ ...ask, retryAfterMs: 1e12 })).toEqual({ kind: 'wait', delayMs: 3_780_000 })
  })

  it('gives an error back that another attempt cannot help', () => {
    const error = new UploadError('ERR_UPLOAD_SOURCE_CHANGED', 'It was changed.')

    const redirect = new TransportError('ERR_UPLOAD_REDIRECT_REFUSED', 'It redirects.', {
      ending: 'doubtful',
      phase: 'answer',
    })

    expect(decideRetry({ ...ask, error })).toEqual({ kind: 'giveUp', error })
    expect(decideRetry({ ...ask, error: redirect })).toEqual({ kind: 'giveUp', error: redirect })
  })

  it('gives up when the attempts that reached the host are used up, and says why', () => {
    expect(decideRetry({ ...ask, usedTries: 7 }).kind).toBe('wait')
    const decision = decideRetry({ ...ask, attempt: 8, usedTries: 8, retryAfterMs: 1_000 })

    expect(decision).toMatchObject({
      kind: 'giveUp',
      error: {
        code: 'ERR_UPLOAD_RETRIES_EXHAUSTED',
        message: 'Gave up after 8 attempts. The last one: The connection was reset.',
        cause: network,
        details: { attempts: 8, lastCode: 'ERR_UPLOAD_NETWORK' },
      },
    })
    expect(decideRetry({ ...ask, retries: 1 })).toMatchObject({
      error: { message: 'Gave up after 1 attempt. The last one: The connection was reset.' },
    })
  })

  it.each([
    ['ERR_UPLOAD_ETAG_MISSING', 'The storage took part 1 without an ETag.'],
    ['ERR_UPLOAD_ANSWER_HIDDEN', 'Its CORS rule must allow the origin of the page.'],
  ] as const)('keeps the code %s, which trying again later does not mend', (code, message) => {
    const error = new UploadError(code, message, { isRetryable: true })

    expect(decideRetry({ ...ask, error, usedTries: 7 }).kind).toBe('wait')
    expect(decideRetry({ ...ask, error, attempt: 8, usedTries: 8 })).toMatchObject({
      error: { code, message: `Gave up after 8 attempts. The last one: ${message}` },
    })
  })

  it('lets what uses up a part of a try add up to tries, and tells how many attempts that were', () => {
    const eighths = { ...ask, retries: 2, attempt: 9 }

    expect(decideRetry({ ...eighths, usedTries: 1 }).kind).toBe('wait')
    expect(decideRetry({ ...eighths, usedTries: 9 / 8 })).toMatchObject({
      error: { message: 'Gave up after 9 attempts. The last one: The connection was reset.' },
    })
    expect(decideRetry({ ...ask, retries: 1, usedTries: 1 / 8 }).kind).toBe('giveUp')
  })

  it('never gives up on attempts that did not reach the host', () => {
    expect(decideRetry({ ...ask, attempt: 1_000, usedTries: 0 })).toEqual({ kind: 'wait', delayMs: 15_000 })
  })

  it('never waits less than the host asked for, nor more than an hour and its tenth', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.option(fc.integer({ min: 0, max: 3_600_000 }), { nil: undefined }),
        chance(),
        (attempt, retryAfterMs, random) => {
          const decision = decideRetry({ ...ask, attempt, retryAfterMs, random: () => random })
          if (decision.kind === 'giveUp') throw new Error('It gave up.')
          expect(decision.delayMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0)
          expect(decision.delayMs).toBeLessThanOrEqual(Math.max(30_000, (retryAfterMs ?? 0) * 1.1 + 1))
        },
      ),
    )
  })
})

function chance(): fc.Arbitrary<number> {
  return fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
}
