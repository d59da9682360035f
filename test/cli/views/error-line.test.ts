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
    // As a server for files alone answers every POST. That of a storage to a part says nothing about the base URL.
    const unable = { code: 'ERR_UPLOAD_HTTP_STATUS', message: 'It says: a web page', status: 501 } as const
    expect(withAdvice(unable)).toMatch(
      /; if it passes, try again\. If it names nothing of yours, check the base URL\.$/,
    )
    expect(withAdvice({ ...unable, file: 'a.mp4' })).toMatch(/; if it passes, try again\.$/)
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

  it('says of a body that is too large whose limit that may be, for a part and for a call', () => {
    const part = { code: 'ERR_UPLOAD_HTTP_STATUS', message: 'a.mp4: The storage refused part 1 (413).' } as const
    const call = { code: 'ERR_UPLOAD_SERVICE_REFUSED', message: 'The service refused to create it (413).' } as const

    for (const error of [part, call])
      expect(withAdvice({ ...error, status: 413 })).toMatch(
        /\(413\)\. A proxy in front of that host may take no request so large \(nginx: client_max_body_size, 1 MB by default\)\. Ask those who run it to raise that limit, then try again\.$/,
      )
  })

  it.each([
    ['refuses', 'The proxy p:3128 answered 407 instead of opening a connection to h:443: check', '407', ''],
    [
      'is not there',
      'The proxy p:3128 could not be used for h:443: Connection to p:3128 was refused',
      undefined,
      ' Check the proxy in HTTPS_PROXY or HTTP_PROXY; a host in NO_PROXY is reached without it.',
    ],
  ])('of a proxy that %s is what is known of it, and no doubt of the base URL', (_, message, status, advice) => {
    const details = { host: 'h:443', proxy: 'p:3128', systemCode: status && `ERR_PROXY_ANSWERED_${status}` }
    const cause = new TransportError('ERR_UPLOAD_NETWORK', message, { ending: 'neverWhole', phase: 'connect', details })
    const guess =
      'Could not reach h:443 (…). Gave up after 3 attempts to create it. Check the base URL and the network.'
    const lasts = { host: 'h:443', attempts: 3, isBaseUrlDoubtful: true }
    const error = errorLine(new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', guess, { cause, details: lasts }))

    expect(error.isBaseUrlDoubtful).toBeUndefined()
    expect(error.message).toBe(`Could not reach h:443 in 3 attempts. ${message}.${advice}`)
  })

  it.each([
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', undefined, 'Could not reach h:443 in 3 attempts. It was not accepted.'],
    ['CERT_HAS_EXPIRED', undefined, 'Could not reach h:443 in 3 attempts. It was not accepted.'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', true, 'Could not reach h:443. Check the base URL. It was not accepted.'],
  ])(
    'of a certificate that is not accepted (%s) doubts the base URL only for another name',
    (code, isInDoubt, words) => {
      const details = { host: 'h:443', systemCode: code }
      const cause = new TransportError('ERR_UPLOAD_NETWORK', 'It was not accepted', {
        ...{ ending: 'neverWhole', phase: 'connect', details },
      })
      const lasts = { host: 'h:443', attempts: 3, isBaseUrlDoubtful: true }
      const guess = 'Could not reach h:443. Check the base URL.'
      const error = errorLine(new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', guess, { cause, details: lasts }))

      expect([error.isBaseUrlDoubtful, error.message]).toEqual([isInDoubt, words])
    },
  )

  it('of a proxy that finds no such host leaves the base URL in doubt', () => {
    const details = { host: 'h:443', proxy: 'p:3128', systemCode: 'ERR_PROXY_ANSWERED_503' }
    const cause = new TransportError('ERR_UPLOAD_NETWORK', 'The proxy p:3128 answered 503', {
      ...{ ending: 'neverWhole', phase: 'connect', details },
    })
    const guess = 'Could not reach h:443. Check the base URL and the network.'
    const lasts = { host: 'h:443', attempts: 3, isBaseUrlDoubtful: true }
    const error = errorLine(new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', guess, { cause, details: lasts }))

    expect(error).toMatchObject({ isBaseUrlDoubtful: true, message: `${guess} The proxy p:3128 answered 503.` })
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
