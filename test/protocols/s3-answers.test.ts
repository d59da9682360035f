// What one answer of a store means for the call that it answers: again with a new signature, or a refusal.

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
