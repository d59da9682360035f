// What the S3 protocol says of itself, which options it takes, and how much of it is under way at once.

import { expect, it } from 'vitest'
import { S3_LIMITS } from '../../src/core/plan.ts'
import { s3Multipart, type S3MultipartOptions } from '../../src/protocols/s3-multipart.ts'
import { formatS3Session } from '../../src/protocols/s3-session.ts'
import { failure } from '../helpers/scripted-s3.ts'
import { NEVER, plan, SMALL } from './s3-rig.ts'
import { storeOfAnswers, type Asked, type Told } from './s3-rig-of-answers.ts'

function protocolOver(answerTo: (asked: Asked) => Told, own: Partial<S3MultipartOptions> = {}) {
  const store = storeOfAnswers(answerTo)
  return { ...store, protocol: s3Multipart({ ...store.ports, ...own }) }
}

/** Of files `k0`, `k1` and so on. */
function sessionOf(fileCount: number): string {
  return formatS3Session(
    Array.from({ length: fileCount }, (_, fileIndex) => {
      const of = String(fileIndex)
      return { fileIndex, key: `k${of}`, uploadId: `u${of}` }
    }),
  )
}

it('is for parts of 5 MiB and more unless the host knows better', () => {
  const traits = { order: 'any', addressing: 'batches', batchSize: 4 }

  expect(protocolOver(() => 'never').protocol.traits).toEqual({ units: S3_LIMITS, ...traits })
  expect(protocolOver(() => 'never', { unitLimits: SMALL }).protocol.traits.units).toBe(SMALL)
})

it.each([
  ['tries', 1],
  ['giveUpAfterMs', 0],
  ['callTimeoutMs', 1],
] as const)('takes no %s that is no number, or below %i', (name, least) => {
  const making = (value: number) => () => protocolOver(() => 'never', { [name]: value })

  expect(making(least)).not.toThrow()
  for (const value of [NaN, least - 1]) expect(making(value)).toThrow(`${name} is ${String(value)}: give an integer`)
})

it('knows no file that is not in its session', async () => {
  const { protocol, asked } = protocolOver(() => ({ status: 200 }))
  const unknown = { code: 'ERR_UPLOAD_INVALID_ARGUMENT', message: 'This S3 session has no upload of that file.' }

  const registering = protocol.register!(sessionOf(1), [plan(1, 'k1')], { isRepeat: false, signal: NEVER })
  await expect(registering).rejects.toMatchObject(unknown)
  await expect(async () => protocol.confirm!(sessionOf(1), 'u1', [], NEVER)).rejects.toMatchObject(unknown)
  expect(asked).toEqual([])
})

it('signs eight parts at a time', async () => {
  let signatures = 0
  const sign = () => new Promise<never>(() => (signatures += 1))
  const { protocol, clock } = protocolOver(() => 'never', { sign })

  void protocol.register!(sessionOf(1), [plan(0, 'k0', 20)], { isRepeat: false, signal: NEVER })
  await clock.advance(0)

  expect(signatures).toBe(8)
})

it('tries to end every upload of a session, and says what the first failed with', async () => {
  const { protocol, asked } = protocolOver(({ operation, key }) => {
    if (key === 'k0') return { status: 403 }
    return operation === 'list' ? failure(404, 'NoSuchUpload', '') : { status: 204 }
  })

  await expect(protocol.cancel!(sessionOf(9), NEVER)).rejects.toMatchObject({ status: 403 })

  expect(new Set(asked.map(({ key }) => key)).size).toBe(9)
})

it('knows one session from the other', async () => {
  const { protocol, asked } = protocolOver(({ operation }) =>
    operation === 'list' ? failure(404, 'NoSuchUpload', '') : { status: 204 },
  )

  await protocol.cancel!(sessionOf(1), NEVER)
  await protocol.cancel!(formatS3Session([{ fileIndex: 0, key: 'other', uploadId: 'u' }]), NEVER)

  expect(asked.map(({ key }) => key)).toEqual(['k0', 'k0', 'other', 'other'])
})

it.each([
  ['AccessDenied', 'Request is not valid yet', 'retry', 'where a clock is wrong: the same one will do in a while'],
  ['SignatureDoesNotMatch', '', 'final', 'where the signer has the wrong key'],
])('to %s (%s) says %s: it asks for no other address %s', (code, message, kind) => {
  const { protocol } = protocolOver(() => 'never')
  const { body, status } = failure(403, code, message)
  const reply = { status, headers: {}, body: new TextEncoder().encode(body), isBodyCut: false }

  expect(protocol.judge(reply, { fileIndex: 0, partNumber: 1, start: 0, end: 1 }).kind).toBe(kind)
})
