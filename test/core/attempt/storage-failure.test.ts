import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TransportReply } from '../../../src/core/ports.ts'
import { classifyStorageFailure } from '../../../src/core/attempt/storage-failure.ts'

const UNIT = { fileIndex: 4, partNumber: 3, start: 0, end: 10 }

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
    [400, '', 'final', 'ERR_UPLOAD_HTTP_STATUS', '400'],
    [401, '', 'final', 'ERR_UPLOAD_ADDRESS_REFUSED', '401'],
    [
      403,
      xml('InvalidAccessKeyId', 'The key has expired.'),
      ...(['final', 'ERR_UPLOAD_ADDRESS_REFUSED', '403 InvalidAccessKeyId'] as const),
    ],
    [
      404,
      xml('NoSuchUpload'),
      'final',
      'ERR_UPLOAD_ADDRESS_REFUSED',
      '404 NoSuchUpload: this upload was ended or swept away there',
    ],
    [404, '', 'final', 'ERR_UPLOAD_HTTP_STATUS', '404'],
    // An underscore is in no code of a store.
    [404, xml('No_Such_Upload'), 'final', 'ERR_UPLOAD_HTTP_STATUS', '404'],
    [199, '', 'final', 'ERR_UPLOAD_HTTP_STATUS', '199'],
    [300, '', 'final', 'ERR_UPLOAD_REDIRECT_REFUSED', '300: it redirects, and redirects are not followed'],
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
    [400, 'RequestExpired'],
    [400, 'TokenRefreshRequired'],
    [401, 'ExpiredToken'],
    [404, 'ExpiredToken'],
  ])('%i %s asks for new addresses, whatever the status is', (status, code) => {
    expect(classifyStorageFailure(reply(status, xml(code)), UNIT)).toMatchObject({
      ...{ kind: 'renew', error: { code: 'ERR_UPLOAD_ADDRESS_EXPIRED', isRetryable: false } },
    })
  })

  it.each(['', '<Error><Code>Request'])('tries again where a 400 broke off before its reason ("%s")', (body) => {
    const verdict = classifyStorageFailure({ ...reply(400, body), isBodyCut: true }, UNIT)

    expect(verdict).toMatchObject({ kind: 'retry', isThrottle: false, error: { isRetryable: true, status: 400 } })
    expect(classifyStorageFailure({ ...reply(400, xml('InvalidArgument')), isBodyCut: true }, UNIT).kind).toBe('final')
    expect(classifyStorageFailure({ ...reply(404, body), isBodyCut: true }, UNIT).kind).toBe('final')
  })

  it.each([
    [403, xml('AccessDenied', 'Request is not valid yet'), false, 'ERR_UPLOAD_ADDRESS_REFUSED'],
    [400, xml('RequestTimeout'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    [400, xml('IncompleteBody'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    [400, xml('BadDigest'), false, 'ERR_UPLOAD_DIGEST_MISMATCH'],
    [400, xml('Md5Mismatch'), false, 'ERR_UPLOAD_DIGEST_MISMATCH'],
    [400, xml('XAmzContentSHA256Mismatch'), false, 'ERR_UPLOAD_DIGEST_MISMATCH'],
    [409, xml('OperationAborted'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    [409, xml('ConditionalRequestConflict'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    // Stores that throttle by another status than 503.
    [400, '<Code>SlowDown</Code>', true, 'ERR_UPLOAD_HTTP_STATUS'],
    [403, xml('SlowDownRead'), true, 'ERR_UPLOAD_HTTP_STATUS'],
    [403, xml('SlowDownWrite'), true, 'ERR_UPLOAD_HTTP_STATUS'],
    [400, xml('ServerBusy'), true, 'ERR_UPLOAD_HTTP_STATUS'],
    [403, xml('TooManyRequests'), true, 'ERR_UPLOAD_HTTP_STATUS'],
    [408, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [425, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [429, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [499, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [500, xml('InternalError'), false, 'ERR_UPLOAD_HTTP_STATUS'],
    [502, '<html>', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [503, xml('SlowDown'), true, 'ERR_UPLOAD_HTTP_STATUS'],
    [503, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [504, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [507, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
    [599, '', false, 'ERR_UPLOAD_HTTP_STATUS'],
  ])('%i %s is tried again (throttle by its word: %s)', (status, body, isThrottle, code) => {
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

  it.each([
    [500, xml('InternalError'), 'could not take part 3 (500 InternalError).'],
    [408, '', 'refused part 3 (408).'],
    [403, xml('ServerBusy'), 'refused part 3 (403 ServerBusy: it is busy).'],
    [400, xml('BadDigest'), 'refused part 3 (400 BadDigest: the bytes were damaged on their way).'],
    [
      403,
      xml('AccessDenied', 'Request not yet valid'),
      'refused part 3 (403 AccessDenied: the address is not valid yet: a clock is wrong).',
    ],
  ])('says of %i what the storage did', (status, body, words) => {
    expect(classifyStorageFailure(reply(status, body), UNIT).error.message).toBe(`The storage ${words}`)
  })

  it('names no code of the store where it gave none', () => {
    expect(classifyStorageFailure(reply(500, ''), UNIT).error).toMatchObject({ serviceCode: undefined })
    expect(classifyStorageFailure(reply(500, xml('InternalError')), UNIT).error).toMatchObject({
      serviceCode: 'InternalError',
    })
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

function xml(code: string, message = 'Something.'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`
}

function reply(status: number, body: string, headers: Record<string, string> = {}): TransportReply {
  return { status, headers, body: new TextEncoder().encode(body), isBodyCut: false }
}
