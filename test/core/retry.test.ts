import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TransportError, UploadError } from '../../src/core/errors.ts'
import type { TransportReply } from '../../src/core/ports.ts'
import {
  backoffMs,
  classifyStorageFailure,
  createRetryBudget,
  decideRetry,
  parseHttpDateMs,
  parseRetryAfterMs,
  refillRetryBudget,
  spendRetry,
  type RetryBudget,
} from '../../src/core/retry.ts'

const UNIT = { fileIndex: 4, partNumber: 3, start: 0, end: 10 }
const half = () => 0.5

describe('classifyStorageFailure', () => {
  const expired = xml('AccessDenied', 'Request has expired')
  it.each([
    [403, expired, 'renew', 'ERR_UPLOAD_ADDRESS_EXPIRED', '403 AccessDenied: the address has expired'],
    [403, xml('ExpiredToken'), 'renew', 'ERR_UPLOAD_ADDRESS_EXPIRED', '403 ExpiredToken: the address has expired'],
    [400, xml('ExpiredToken'), 'renew', 'ERR_UPLOAD_ADDRESS_EXPIRED', '400 ExpiredToken: the address has expired'],
    [
      403,
      xml('AuthenticationFailed'),
      'renew',
      'ERR_UPLOAD_ADDRESS_EXPIRED',
      '403 AuthenticationFailed: the address has expired',
    ],
    [403, '', 'renew', 'ERR_UPLOAD_ADDRESS_REFUSED', '403: it gives no reason'],
    [403, '<html>Forbidden</html>', 'renew', 'ERR_UPLOAD_ADDRESS_REFUSED', '403: it gives no reason'],
    [403, xml('AccessDenied', 'Access Denied'), 'final', 'ERR_UPLOAD_ADDRESS_REFUSED', '403 AccessDenied'],
    [403, xml('SignatureDoesNotMatch'), 'final', 'ERR_UPLOAD_ADDRESS_REFUSED', '403 SignatureDoesNotMatch'],
    // Only calls that are signed by a header have this window; of a signed address it says that a clock is wrong.
    [403, xml('RequestTimeTooSkewed'), 'final', 'ERR_UPLOAD_ADDRESS_REFUSED', '403 RequestTimeTooSkewed'],
    [400, xml('EntityTooSmall'), 'final', 'ERR_UPLOAD_HTTP_STATUS', '400 EntityTooSmall'],
    [400, xml('InvalidPartOrder'), 'final', 'ERR_UPLOAD_HTTP_STATUS', '400 InvalidPartOrder'],
    [400, xml('InvalidPart'), 'final', 'ERR_UPLOAD_HTTP_STATUS', '400 InvalidPart'],
    [401, '', 'final', 'ERR_UPLOAD_ADDRESS_REFUSED', '401'],
    [
      404,
      xml('NoSuchUpload'),
      'final',
      'ERR_UPLOAD_HTTP_STATUS',
      '404 NoSuchUpload: this upload was ended or swept away there',
    ],
    [404, '', 'final', 'ERR_UPLOAD_HTTP_STATUS', '404'],
    [400, xml('InvalidArgument'), 'final', 'ERR_UPLOAD_HTTP_STATUS', '400 InvalidArgument'],
    [409, '', 'final', 'ERR_UPLOAD_HTTP_STATUS', '409'],
    [411, xml('MissingContentLength'), 'final', 'ERR_UPLOAD_HTTP_STATUS', '411 MissingContentLength'],
    [412, xml('PreconditionFailed'), 'final', 'ERR_UPLOAD_HTTP_STATUS', '412 PreconditionFailed'],
    [413, xml('EntityTooLarge'), 'final', 'ERR_UPLOAD_HTTP_STATUS', '413 EntityTooLarge'],
    [
      301,
      xml('PermanentRedirect'),
      'final',
      'ERR_UPLOAD_REDIRECT_REFUSED',
      '301 PermanentRedirect: it redirects, and redirects are not followed',
    ],
    [307, '', 'final', 'ERR_UPLOAD_REDIRECT_REFUSED', '307: it redirects, and redirects are not followed'],
  ])('%i %s is %s', (status, body, kind, code, told) => {
    const verdict = classifyStorageFailure(reply(status, body), UNIT)

    expect(verdict.kind).toBe(kind)
    expect(verdict.error).toMatchObject({
      code,
      status,
      isRetryable: false,
      message: `The storage refused part 3 (${told}).`,
      details: { status, fileIndex: 4, partNumber: 3 },
    })
  })

  it.each([
    [403, xml('AccessDenied', 'Request is not valid yet'), false, 'ERR_UPLOAD_ADDRESS_REFUSED'],
    [400, xml('RequestTimeout'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    [400, xml('IncompleteBody'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    [400, xml('BadDigest'), false, 'ERR_UPLOAD_DIGEST_MISMATCH'],
    [409, xml('OperationAborted'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    [408, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [425, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [429, '', true, 'ERR_UPLOAD_HTTP_STATUS'],
    [499, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [500, xml('InternalError'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    [502, '<html>', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [503, xml('SlowDown'), true, 'ERR_UPLOAD_HTTP_STATUS'],
    [503, '', true, 'ERR_UPLOAD_HTTP_STATUS'],
    [504, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [507, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [599, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
  ])('%i %s is tried again (throttle: %s)', (status, body, isThrottle, code) => {
    const verdict = classifyStorageFailure(reply(status, body), UNIT)

    expect(verdict).toMatchObject({ kind: 'retry', isThrottle, error: { code, status, isRetryable: true } })
    expect(verdict).not.toHaveProperty('retryAfterMs')
  })

  it('does not repeat what the storage does not understand', () => {
    expect(classifyStorageFailure(reply(501, xml('NotImplemented')), UNIT)).toMatchObject({
      kind: 'final',
      error: { message: 'The storage could not take part 3 (501 NotImplemented).' },
    })
    expect(classifyStorageFailure(reply(505, ''), UNIT).kind).toBe('final')
  })

  it('reads Retry-After, and a date against the date of the answer', () => {
    const seconds = classifyStorageFailure(reply(503, '', { 'retry-after': '7' }), UNIT)
    const date = classifyStorageFailure(
      reply(429, '', { 'retry-after': 'Sun, 06 Nov 1994 08:50:37 GMT', date: 'Sun, 06 Nov 1994 08:49:37 GMT' }),
      UNIT,
    )
    const undated = classifyStorageFailure(reply(429, '', { 'retry-after': 'Sun, 06 Nov 1994 08:50:37 GMT' }), UNIT)

    expect(seconds).toMatchObject({ retryAfterMs: 7_000, error: { retryAfterMs: 7_000 } })
    expect(date).toMatchObject({ retryAfterMs: 60_000 })
    expect(undated).not.toHaveProperty('retryAfterMs')
  })

  it('reads the code of Azure from its header when there is no body', () => {
    expect(classifyStorageFailure(reply(403, '', { 'x-ms-error-code': 'AuthenticationFailed' }), UNIT)).toMatchObject({
      kind: 'renew',
      error: { code: 'ERR_UPLOAD_ADDRESS_EXPIRED', serviceCode: 'AuthenticationFailed' },
    })
  })

  it('reads no further than 64 KiB', () => {
    const far = `${' '.repeat(65_536)}${xml('AccessDenied', 'Request has expired')}`

    expect(classifyStorageFailure(reply(403, far), UNIT).error.message).toContain('it gives no reason')
  })

  it('refuses to judge a success', () => {
    expect(() => classifyStorageFailure(reply(200, ''), UNIT)).toThrow('a failure has no status 200')
  })

  it('shows nothing of the body but a code, whatever the storage says, and always ends in one of three ways', () => {
    const secret = fc.stringMatching(/^[a-z0-9]{12,64}$/)
    const wrap = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `<Code>${text}</Code>`,
      (text) => xml('AccessDenied', `expired ${text}`),
      (text) => `<Code>AccessDenied</Code><Resource>/k?X-Amz-Signature=${text}</Resource>`,
      (text) => `<Code>A b ${text}</Code>`,
    )
    const statuses = fc.integer({ min: 300, max: 599 })
    fc.assert(
      fc.property(statuses, secret, wrap, (status, text, form) => {
        const verdict = classifyStorageFailure(reply(status, form(text), { 'x-ms-error-code': text }), UNIT)

        expect(JSON.stringify([verdict.error.message, verdict.error.details, verdict.error])).not.toContain(text)
        expect(['retry', 'renew', 'final']).toContain(verdict.kind)
        expect(verdict.error.isRetryable).toBe(verdict.kind === 'retry')
      }),
    )
  })
})

describe('parseRetryAfterMs', () => {
  const now = 784_111_777_000 // Sun, 06 Nov 1994 08:49:37 GMT

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['-5', 0],
    ['1.5', 1_500],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
    ['Sun Nov  6 08:50:37 1994', 60_000],
    ['Sun, 06 Nov 1994 07:00:00 GMT', 0],
  ])('reads %j', (value, ms) => {
    expect(parseRetryAfterMs(value, now)).toBe(ms)
  })

  it.each([
    undefined,
    '',
    'soon',
    '1e3',
    '0x10',
    '12 s',
    '3, 4',
    '9'.repeat(400),
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 PST',
  ])('does not understand %j', (value) => {
    expect(parseRetryAfterMs(value, now)).toBeUndefined()
  })

  it('reads every date as the platform does', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        expect(parseHttpDateMs(date.toUTCString())).toBe(Math.floor(date.getTime() / 1000) * 1000)
      }),
    )
  })
})

describe('backoffMs', () => {
  it('doubles its upper end up to the cap', () => {
    const longest = (attempt: number) => backoffMs({ attempt, random: () => 1 - Number.EPSILON })

    expect([1, 2, 3, 6, 7, 8, 2_000].map(longest)).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000])
    expect(backoffMs({ attempt: 5, random: () => 0 })).toBe(0)
    expect(backoffMs({ attempt: 3, baseMs: 100, capMs: 300, random: half })).toBe(150)
  })

  it('stays between 0 and its upper end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), chance(), (attempt, random) => {
        const delayMs = backoffMs({ attempt, random: () => random })
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
  const ask = { attempt: 1, reachedCount: 1, error: network, random: half }

  it('waits with backoff', () => {
    expect(decideRetry(ask)).toEqual({ kind: 'wait', delayMs: 250 })
    expect(decideRetry({ ...ask, attempt: 4, reachedCount: 4 })).toEqual({ kind: 'wait', delayMs: 2_000 })
  })

  it('waits as long as the host asked for, and up to a tenth more', () => {
    expect(decideRetry({ ...ask, retryAfterMs: 7_000 })).toEqual({ kind: 'wait', delayMs: 7_350 })
    expect(decideRetry({ ...ask, retryAfterMs: 300_000 })).toEqual({ kind: 'wait', delayMs: 315_000 })
    expect(decideRetry({ ...ask, retryAfterMs: 0 })).toEqual({ kind: 'wait', delayMs: 250 })
  })

  it('lets a longer Retry-After stop the whole host, for an hour and its tenth at most', () => {
    expect(decideRetry({ ...ask, retryAfterMs: 300_001 })).toEqual({ kind: 'hold', delayMs: 315_001 })
    expect(decideRetry({ ...ask, retryAfterMs: 1e12 })).toEqual({ kind: 'hold', delayMs: 3_780_000 })
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
    expect(decideRetry({ ...ask, reachedCount: 7 }).kind).toBe('wait')
    const decision = decideRetry({ ...ask, reachedCount: 8, retryAfterMs: 1_000 })

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

  it('never gives up on attempts that did not reach the host', () => {
    expect(decideRetry({ ...ask, attempt: 1_000, reachedCount: 0 })).toEqual({ kind: 'wait', delayMs: 15_000 })
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
          expect(decision.kind === 'hold').toBe((retryAfterMs ?? 0) > 300_000)
        },
      ),
    )
  })
})

describe('RetryBudget', () => {
  it('allows ten retries at once, then puts them off without refusing them', () => {
    let budget = createRetryBudget()
    for (let count = 0; count < 10; count += 1) {
      const spent = spendRetry(budget, half)
      expect(spent.delayMs).toBe(0)
      budget = spent.budget
    }

    expect(spendRetry(budget, half).delayMs).toBe(10_000)
    expect(spendRetry(budget, () => 0).delayMs).toBe(5_000)
    // Five delivered parts are one more retry.
    expect(spendRetry(deliver(budget, 4), half).delayMs).toBe(10_000)
    expect(spendRetry(deliver(budget, 5), half).delayMs).toBe(0)
  })

  it('allows a fifth of the delivered parts when these are many', () => {
    expect(Math.round(deliver(createRetryBudget(), 40).retriesLeft)).toBe(10)
    expect(Math.round(deliver(createRetryBudget(), 1_000).retriesLeft)).toBe(200)
  })

  it('never lets more retries through at once than ten and a fifth of the parts', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (steps) => {
        let budget = createRetryBudget()
        let freeRetries = 0
        for (const isDelivery of steps) {
          if (isDelivery) budget = refillRetryBudget(budget)
          else {
            const spent = spendRetry(budget, half)
            if (spent.delayMs === 0) freeRetries += 1
            budget = spent.budget
          }
          expect(budget.retriesLeft).toBeGreaterThanOrEqual(0)
        }
        expect(freeRetries).toBeLessThanOrEqual(10 + steps.filter(Boolean).length / 5 + 1e-6)
      }),
    )
  })
})

function deliver(budget: RetryBudget, count: number): RetryBudget {
  let next = budget
  for (let index = 0; index < count; index += 1) next = refillRetryBudget(next)
  return next
}

function xml(code: string, message = 'Something.'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`
}

function reply(status: number, body: string, headers: Record<string, string> = {}): TransportReply {
  return { status, headers, body: new TextEncoder().encode(body), isBodyCut: false }
}

function chance(): fc.Arbitrary<number> {
  return fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
}
