import { describe, expect, it } from 'vitest'

import { UploadError, wasDoubtful } from '../../src/core/errors.ts'
import { readRejection } from '../../src/machines/rejection.ts'

const refused = new UploadError('ERR_UPLOAD_CREDENTIALS_REFUSED', 'The service refused the key (401).')
const refusedSummary = {
  code: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
  message: 'The service refused the key (401).',
} as const

describe('readRejection', () => {
  it.each([
    ['a failure that says how far it came', { confirmedCount: 2, error: refusedSummary }, refusedSummary, 2],
    ['an error of ours', refused, refusedSummary, 0],
    ['a foreign error', new TypeError('x is null'), { code: 'ERR_UPLOAD_INTERNAL', message: 'x is null' }, 0],
    ['a text', 'broken', { code: 'ERR_UPLOAD_INTERNAL', message: 'broken' }, 0],
    ['nothing', undefined, { code: 'ERR_UPLOAD_INTERNAL', message: 'undefined' }, 0],
    ['null', null, { code: 'ERR_UPLOAD_INTERNAL', message: 'null' }, 0],
  ] as const)('reads %s', (_, reason: unknown, error, confirmedCount) => {
    expect(readRejection(reason)).toEqual({ error, confirmedCount })
  })

  it('keeps neither cause, details nor stack', () => {
    const error = new UploadError('ERR_UPLOAD_NETWORK', 'Reset.', { cause: new Error('inner'), details: { part: 3 } })

    expect(readRejection(error).error).toEqual({ code: 'ERR_UPLOAD_NETWORK', message: 'Reset.' })
  })

  it('keeps the file, the part, the attempt and the status of an error', () => {
    const where = { file: 'swing.mp4', partNumber: 3, attempt: 2, status: 500 }
    const error = new UploadError('ERR_UPLOAD_NETWORK', 'Reset.', { details: { ...where, host: 'store.example' } })
    const exhausted = new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', 'Gave up.', { details: { attempts: 8 } })

    expect(readRejection(error).error).toEqual({ code: 'ERR_UPLOAD_NETWORK', message: 'Reset.', ...where })
    expect(readRejection(exhausted).error).toMatchObject({ attempt: 8 })
  })

  it('takes signatures and credentials out of a foreign message', () => {
    const message = 'fetch failed: https://storage.example/a.mp4?X-Amz-Signature=5ec7e7 (reset)'

    expect(readRejection(new Error(message)).error.message).toBe(
      'fetch failed: https://storage.example/a.mp4?… (reset)',
    )
    expect(
      readRejection(new Error('https://ann:pw@proxy.example said no\nAuthorization: Bearer t0k3n')).error.message,
    ).toBe('https://proxy.example said no Authorization: …')
  })
})

describe('wasDoubtful', () => {
  it.each([
    [new UploadError('ERR_UPLOAD_TIMEOUT', 'No answer.', { details: { isDoubtful: true } }), true],
    [new UploadError('ERR_UPLOAD_TIMEOUT', 'No answer.', { details: { isDoubtful: false } }), false],
    [new UploadError('ERR_UPLOAD_TIMEOUT', 'No answer.'), false],
    [undefined, false],
  ])('of %s is %s', (reason, wanted) => {
    expect(wasDoubtful(reason)).toBe(wanted)
  })
})
