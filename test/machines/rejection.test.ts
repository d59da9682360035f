import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { summarize, UploadError } from '../../src/core/errors.ts'
import { isDoubtful, readRejection } from '../../src/machines/rejection.ts'

const refused = new UploadError('ERR_UPLOAD_CREDENTIALS_REFUSED', 'The service refused the key (401).')
const refusedSummary = { code: 'ERR_UPLOAD_CREDENTIALS_REFUSED', message: 'The service refused the key (401).' }
const noReason = { code: 'ERR_UPLOAD_INTERNAL', message: 'An actor failed and gave no reason' }

describe('readRejection', () => {
  it.each([
    ['a failure with counts', { confirmedCount: 2, failedCount: 1, error: refused }, refusedSummary, [2, 1]],
    ['a failure of no file', { confirmedCount: 2, failedCount: 0, error: refused }, refusedSummary, [2, 0]],
    ['an error of ours', refused, refusedSummary, null],
    ['a failure without counts', { error: refusedSummary }, refusedSummary, null],
    ['a count below zero', { confirmedCount: -1, failedCount: 1, error: refused }, refusedSummary, null],
    ['a count in pieces', { confirmedCount: 1, failedCount: 0.5, error: refused }, refusedSummary, null],
    ['a foreign error', new TypeError('x is null'), { code: 'ERR_UPLOAD_INTERNAL', message: 'x is null' }, null],
    ['a text', 'broken', { code: 'ERR_UPLOAD_INTERNAL', message: 'broken' }, null],
    ['nothing', undefined, noReason, null],
    ['null', null, noReason, null],
    ['an object without a prototype', Object.create(null), noReason, null],
    [
      'a foreign code',
      { code: 'ECONNRESET', message: 'reset' },
      { code: 'ERR_UPLOAD_INTERNAL', message: 'reset' },
      null,
    ],
  ] as const)('reads %s', (_, reason: unknown, error, counts) => {
    const outcome = counts === null ? null : { confirmedCount: counts[0], failedCount: counts[1] }

    expect(readRejection(reason)).toEqual({ error, outcome })
  })

  it('keeps neither cause, details nor stack', () => {
    const error = new UploadError('ERR_UPLOAD_NETWORK', 'Reset.', { cause: new Error('inner'), details: { part: 3 } })

    expect(Object.keys(readRejection(error).error)).toEqual(['code', 'message'])
  })

  it('keeps the file, the part, the attempt and the status of an error and of its plain form', () => {
    const where = { file: 'swing.mp4', partNumber: 3, attempt: 2, status: 500 }
    const error = new UploadError('ERR_UPLOAD_NETWORK', 'Reset.', { details: { ...where, host: 'store.example' } })
    const exhausted = new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', 'Gave up.', { details: { attempts: 8 } })

    expect(readRejection(error).error).toEqual({ code: 'ERR_UPLOAD_NETWORK', message: 'Reset.', ...where })
    expect(readRejection({ error: summarize(error) }).error).toEqual(readRejection(error).error)
    expect(readRejection(exhausted).error).toMatchObject({ attempt: 8 })
  })

  it('leaves out a place that is none', () => {
    const details = { file: { name: 'swing.mp4' }, partNumber: '3', attempt: -1, status: '404' }
    const error = new UploadError('ERR_UPLOAD_NETWORK', 'Reset.', { details })

    expect(Object.keys(readRejection(error).error)).toEqual(['code', 'message'])
  })

  it('reads a value that throws when it is looked at', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
      },
    )

    expect(readRejection(hostile)).toEqual({ error: noReason, outcome: null })
    expect(isDoubtful(hostile)).toBe(false)
  })

  it('takes signatures and credentials out of a foreign message, and cuts it', () => {
    const message = 'fetch failed: https://storage.example/a.mp4?X-Amz-Signature=5ec7e7 (reset)'

    expect(readRejection(new Error(message)).error.message).toBe(
      'fetch failed: https://storage.example/a.mp4?… (reset)',
    )
    expect(
      readRejection(new Error('https://ann:pw@proxy.example said no\nAuthorization: Bearer t0k3n')).error.message,
    ).toBe('https://proxy.example said no\u{FFFD}Authorization: …')
    expect(readRejection(new Error('a'.repeat(1_000))).error.message).toHaveLength(300)
  })

  it('gives plain data for any value whatever', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (reason) => {
        const read = readRejection(reason)

        expect(JSON.parse(JSON.stringify(read))).toEqual(read)
        expect(read.error.code).toMatch(/^ERR_UPLOAD_/)
      }),
    )
  })
})

describe('isDoubtful', () => {
  it.each([
    [new UploadError('ERR_UPLOAD_TIMEOUT', 'No answer.', { details: { isDoubtful: true } }), true],
    [new UploadError('ERR_UPLOAD_TIMEOUT', 'No answer.', { details: { isDoubtful: false } }), false],
    [new UploadError('ERR_UPLOAD_TIMEOUT', 'No answer.'), false],
    [undefined, false],
  ])('of %s is %s', (reason, wanted) => {
    expect(isDoubtful(reason)).toBe(wanted)
  })
})
