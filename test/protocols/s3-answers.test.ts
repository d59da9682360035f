// What one answer of a store means for the call that it answers: again with a new signature, or a refusal, and how that is told.

import { describe, expect, it } from 'vitest'
import { failure } from '../helpers/scripted-s3.ts'
import { callS3, type S3Call } from '../../src/protocols/s3-call.ts'
import type { S3CallPorts } from '../../src/protocols/s3-sign.ts'
import { NEVER } from './s3-rig.ts'
import { storeOfAnswers, type Told } from './s3-rig-of-answers.ts'

const LIST: S3Call = { operation: 'list', key: 'k', uploadId: 'u' }

/** How a call ends that is told one answer after the other, and what was asked. */
async function told(call: S3Call, answers: readonly Told[], own: Partial<S3CallPorts> = {}) {
  const { ports, clock, asked } = storeOfAnswers(() => answers[asked.length - 1] ?? { status: 200 })
  const ended = callS3({ ...ports, ...own }, call, NEVER).catch((error: unknown) => ({ error }))
  await clock.advance(60_000)
  return { outcome: await ended, asked }
}

describe('a signature that the store no longer takes', () => {
  it.each([
    ['that of temporary keys, as S3 says it', failure(400, 'ExpiredToken', 'The provided token has expired.')],
    ['that of temporary keys, as others say it', failure(403, 'ExpiredToken', 'The provided token has expired.')],
    ['that of temporary keys that are to be renewed', failure(400, 'TokenRefreshRequired', '')],
    ['one that took too long', failure(403, 'AccessDenied', 'Request has expired')],
    ['one that took too long, in a word', failure(400, 'RequestExpired', '')],
  ])('is made anew: %s', async (_, expired) => {
    const { outcome, asked } = await told(LIST, [expired])

    expect(outcome).toMatchObject({ kind: 'done' })
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['another refusal', failure(403, 'AccessDenied', 'Access Denied')],
    ['one that says nothing', { status: 403 }],
    ['what else has expired', failure(404, 'NoSuchUpload', 'The upload has expired.')],
  ])('is not %s', async (_, refusal) => {
    expect((await told(LIST, [refusal])).asked).toHaveLength(1)
  })
})

describe('a refusal', () => {
  it('that is a redirect is told as one: it is not followed, nor asked for again', async () => {
    const { outcome, asked } = await told(LIST, [failure(307, 'TemporaryRedirect', '')])

    expect(asked).toHaveLength(1)
    expect(outcome).toMatchObject({
      error: {
        code: 'ERR_UPLOAD_REDIRECT_REFUSED',
        message: 'The storage refused to list the upload of k (307 TemporaryRedirect).',
      },
    })
  })

  it.each(['noSuchThing', 'No such thing', 'X', 'A'.repeat(49), 'Key?X-Amz-Signature=5ec2e7'])(
    'shows no code that looks like none: %s',
    async (code) => {
      expect((await told(LIST, [failure(400, code, '')])).outcome).toMatchObject({
        error: { message: 'The storage refused to list the upload of k (400).', serviceCode: undefined },
      })
    },
  )

  it('of a later try still says that an earlier one may have been heard', async () => {
    const answers = [{ status: 500 }, failure(409, 'OperationAborted', '')]
    const { outcome } = await told({ operation: 'create', key: 'k' }, answers, { tries: 2 })

    expect(outcome).toMatchObject({ kind: 'refused', isDoubtful: true, error: { status: 409 } })
  })
})

describe('an answer that broke off', () => {
  const told404 = async (cut: (body: Uint8Array) => Uint8Array) => {
    const { ports } = storeOfAnswers(() => failure(404, 'NoSuchUpload', ''))
    const send: typeof ports.transport.send = async (request) => {
      const reply = await ports.transport.send(request)
      return { ...reply, body: cut(reply.body), isBodyCut: true }
    }
    return callS3({ ...ports, transport: { ...ports.transport, send } }, LIST, NEVER)
  }

  it('behind the end of its document says all that it has to say', async () => {
    expect(await told404((body) => body)).toMatchObject({ error: { status: 404, serviceCode: 'NoSuchUpload' } })
  })

  it('before that is no more than its status', async () => {
    expect(await told404((body) => body.subarray(0, -1))).toMatchObject({
      error: { status: 404, serviceCode: undefined },
    })
  })
})

describe('no answer', () => {
  it('is told as the storage’s, with what it was asked for', async () => {
    const { outcome } = await told(LIST, ['never'], { giveUpAfterMs: 0 })

    expect(outcome).toMatchObject({
      error: { cause: { message: 'The storage gave no answer within 30 s when asked to list the upload of k.' } },
    })
  })

  it('to a create is followed by a question for the object itself', async () => {
    const { outcome, asked } = await told({ operation: 'create', key: 'k' }, ['lost', { status: 404 }])

    expect(outcome).toMatchObject({ kind: 'done', isDoubtful: true })
    expect(asked.map(({ operation, key }) => `${operation} ${key}`)).toEqual(['create k', 'head k', 'create k'])
  })
})
