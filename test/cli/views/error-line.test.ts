// What a person reads of an error: what happened, what to do, and the code to look up.

import { describe, expect, it } from 'vitest'

import { errorLine, fullLine, reasonOf, tellingOnce, withAdvice } from '../../../src/cli/views/error-line.ts'
import { TransportError, UploadError } from '../../../src/core/errors.ts'

describe('the line of an error', () => {
  it('says what to do where the message only says what happened', () => {
    const refused = new UploadError('ERR_UPLOAD_SERVICE_REFUSED', 'The service refused it')

    expect(fullLine(errorLine(refused))).toBe(
      'The service refused it. Correct what the service names in the message, or ask those who run it. ' +
        '(ERR_UPLOAD_SERVICE_REFUSED)',
    )
  })

  it('names the base URL where something else may live there', () => {
    const unknown = new UploadError('ERR_UPLOAD_SERVICE_REFUSED', 'It says: a web page', { details: { status: 404 } })

    expect(fullLine(errorLine(unknown))).toMatch(
      /, or ask those who run it\. If it names nothing of yours, check the base URL\. \(ERR_UPLOAD_SERVICE_REFUSED\)$/,
    )
  })

  it('says of a name that was not found that the name may be meant, before session and base URL', () => {
    const refused = { code: 'ERR_UPLOAD_SERVICE_REFUSED', message: 'a.action: no such kind.', status: 404 } as const

    expect(withAdvice({ ...refused, file: 'a.action' })).toMatch(
      / ask those who run it\. If it does not mean this file, check the session and the base URL\.$/,
    )
  })

  it('names --reprocess where the name of a file was refused', () => {
    const refused = { code: 'ERR_UPLOAD_SERVICE_REFUSED', message: 'a.action: It is there.', status: 409 } as const

    expect(withAdvice({ ...refused, file: 'a.action' })).toMatch(
      / or ask those who run it\. If the session has the file already, --reprocess sends it once more\.$/,
    )
    expect(withAdvice(refused)).toMatch(/ or ask those who run it\.$/)
  })

  it('leaves it to the message where that knows more of the case', () => {
    const unknown = new UploadError('ERR_UPLOAD_INVALID_ARGUMENT', 'Unknown option. See mocap-uplink --help.')

    expect(fullLine(errorLine(unknown))).toBe('Unknown option. See mocap-uplink --help. (ERR_UPLOAD_INVALID_ARGUMENT)')
  })

  it('names a call in a person’s words, and a file once', () => {
    const message = 'a.mp4: Gave up videoUploads.confirm after 6 attempts. The last: The service failed.'
    const error = errorLine(new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', message))

    expect(fullLine(error)).toMatch(/^a\.mp4: Gave up the confirmation of a file after 6 attempts\. /)
    expect(reasonOf({ name: 'a.mp4', error })).toMatch(/^Gave up the confirmation of a file after 6 attempts\. /)
    expect(error.message).toBe(message)
  })

  it('is not repeated from one file to the next where only their names differ', () => {
    const failed = (name: string, words: string) => {
      const message = `${name}: ${words}`
      return { name, error: errorLine(new UploadError('ERR_UPLOAD_SERVICE_REFUSED', message)) }
    }
    const [a, b, c] = ['take-1.action', 'take-2.action', 'take-3.action'] as const
    const files = [
      ...[failed(a, `It says: ${a} is there.`), failed(b, `It says: ${b} is there.`), failed(c, 'It is gone.')],
      ...[{ name: a }, { name: b }],
    ]

    expect(files.map(tellingOnce(reasonOf))).toEqual([
      ...[`It says: ${a} is there.`, 'for the same reason', 'It is gone.', 'no reason given', 'for the same reason'],
    ])
  })

  it('names what the network said before it says what to do', () => {
    const reset = new TransportError('ERR_UPLOAD_NETWORK', 'The certificate of h is not trusted', {
      ...{ ending: 'neverWhole', phase: 'connect', details: { systemCode: 'SELF_SIGNED' } },
    })
    const exhausted = new UploadError('ERR_UPLOAD_RETRIES_EXHAUSTED', 'Gave up after 3 attempts.', { cause: reset })

    expect(fullLine(errorLine(exhausted))).toMatch(
      /^Gave up after 3 attempts\. The certificate of h is not trusted\. Look at the last failure/,
    )
  })
})
