// How uploads to a store are created and cancelled.

import { describe, expect, it } from 'vitest'
import { s3Multipart } from '../../src/protocols/s3-multipart.ts'
import { failure } from '../helpers/scripted-s3.ts'
import { formatS3Session } from '../../src/protocols/s3-session.ts'
import { storeOfAnswers } from './s3-rig-of-answers.ts'
import { expectObject, NEVER, plan, sourceOf, startS3Rig } from './s3-rig.ts'

describe('creating a session', () => {
  it('refuses two files under one key before any call', async () => {
    const { s3, protocol } = await startS3Rig({}, { keyOf: () => 'same' })

    await expect(protocol.create([plan(0, 'a'), plan(1, 'b')], NEVER)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message: 'Two files of this session have the key same; one would replace the other.',
    })
    expect(s3.requests).toEqual([])
  })

  it('says that an upload may be orphaned when the answer to its creation was lost', async () => {
    const { s3, protocol } = await startS3Rig({ faults: [{ operation: 'create', nth: 1, work: true }] })

    const created = await protocol.create([plan(0, 'a')], NEVER)

    expect(created.hasPossibleOrphan).toBe(true)
    expect(s3.uploads.size).toBe(2)
  })

  it('ends the uploads that were created when another one could not be', async () => {
    const refusal = { status: 403, body: '<Error><Code>AccessDenied</Code><Message>No</Message></Error>' }
    const { s3, protocol } = await startS3Rig({ faults: [{ operation: 'create', nth: 3, answer: refusal }] })
    const files = Array.from({ length: 5 }, (_, index) => plan(index, `clip-${String(index)}`))

    await expect(protocol.create(files, NEVER)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_ADDRESS_REFUSED',
      serviceCode: 'AccessDenied',
    })
    expect(s3.uploads.size).toBe(0)
    expect(s3.requestsOf('abort').length).toBeGreaterThanOrEqual(2)
  })

  it('tries again what may pass: a busy store, a lost line, a signer that fails', async () => {
    let signatures = 0
    const { s3, protocol } = await startS3Rig(
      {
        faults: [
          { operation: 'create', nth: 1, answer: { status: 503, body: '<Error><Code>SlowDown</Code></Error>' } },
          { operation: 'create', nth: 2 },
        ],
      },
      {
        sign(request) {
          signatures += 1
          return signatures === 1 ? Promise.reject(new Error('the signer sleeps')) : Promise.resolve(s3.sign(request))
        },
      },
    )

    const { sessionId } = await protocol.create([plan(0, 'a')], NEVER)

    expect(s3.requestsOf('create')).toHaveLength(3)
    expect(String(sessionId)).toContain([...s3.uploads.keys()][0])
  })

  it('gives up after five tries and shows nothing of the address', async () => {
    const { s3, protocol } = await startS3Rig({
      faults: [{ operation: 'create', nth: 'every', answer: { status: 500 } }],
    })

    const error = await protocol.create([plan(0, 'a')], NEVER).catch((reason: unknown) => reason)

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_HTTP_STATUS',
      message: 'The storage refused to create the upload of a (500).',
    })
    expect(JSON.stringify(error)).not.toMatch(/amz|127\.0\.0\.1/i)
    expect(s3.requestsOf('create')).toHaveLength(5)
  })

  it.each([
    ['no XML', 'hello'],
    ['another document', '<Other><UploadId>1</UploadId></Other>'],
    [
      'an upload id with a blank',
      '<InitiateMultipartUploadResult><UploadId>a b</UploadId></InitiateMultipartUploadResult>',
    ],
    [
      'an id in a CDATA section',
      '<InitiateMultipartUploadResult><Key><![CDATA[<UploadId>evil</UploadId>]]></Key><UploadId>a</UploadId></InitiateMultipartUploadResult>',
    ],
  ])('refuses a reply that is %s', async (_name, body) => {
    const answer = { status: 200, body }
    const { protocol } = await startS3Rig({ faults: [{ operation: 'create', nth: 'every', answer }] })

    await expect(protocol.create([plan(0, 'a')], NEVER)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
  })

  it('does not send to plain HTTP off this machine', async () => {
    const { protocol } = await startS3Rig({}, { sign: () => Promise.resolve({ url: 'http://s3.example.com/a?X=1' }) })

    await expect(protocol.create([plan(0, 'a')], NEVER)).rejects.toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL' })
  })

  it.each([
    'https://10.0.0.7/a?X=1',
    'https://169.254.169.254/a?X=1',
    'https://user:pw@s3.example.com/a',
    'ftp://s3.example.com/a',
  ])('asks the address policy before anything is sent to %s', async (url) => {
    const { protocol, s3 } = await startS3Rig({}, { sign: () => Promise.resolve({ url }), addressPolicy: 'public' })

    await expect(protocol.create([plan(0, 'a')], NEVER)).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_UPLOAD_(?:INSECURE_URL|INVALID_ARGUMENT)$/) as string,
    })
    expect(s3.requests).toEqual([])
  })

  it('ends when it is aborted, also when the signer never answers', async () => {
    const { protocol } = await startS3Rig({}, { sign: () => new Promise(() => {}) })
    const controller = new AbortController()
    const reason = new Error('enough')

    const creating = protocol.create([plan(0, 'a')], controller.signal)
    controller.abort(reason)

    await expect(creating).rejects.toBe(reason)
  })
})

describe('cancel', () => {
  it('ends every upload of the session, and may be said twice', async () => {
    const { s3, protocol } = await startS3Rig()
    const { sessionId } = await protocol.create([plan(0, 'a'), plan(1, 'b')], NEVER)

    await protocol.cancel!(sessionId, NEVER)
    await protocol.cancel!(sessionId, NEVER)

    expect(s3.uploads.size).toBe(0)
  })

  it('ends four at a time, and begins with no more of them when it is given up', async () => {
    const { ports, clock, operations } = storeOfAnswers(() => 'never')
    let signatures = 0
    const sign: typeof ports.sign = (request) => ((signatures += 1), ports.sign(request, NEVER))
    const sessionId = formatS3Session(
      Array.from({ length: 6 }, (_, fileIndex) => ({ fileIndex, key: `k${String(fileIndex)}`, uploadId: 'u' })),
    )
    const [stop, reason] = [new AbortController(), new Error('enough')]

    const cancelling = s3Multipart({ ...ports, sign }).cancel!(sessionId, stop.signal)
    await clock.advance(0)
    stop.abort(reason)

    await expect(cancelling).rejects.toBe(reason)
    expect([signatures, operations()]).toEqual([4, ['abort', 'abort', 'abort', 'abort']])
  })

  it('is done where all were ended before it was given up', async () => {
    const { ports } = storeOfAnswers(({ operation }) => {
      if (operation === 'list') stop.abort()
      return operation === 'list' ? failure(404, 'NoSuchUpload', '') : { status: 204 }
    })
    const stop = new AbortController()
    const sessionId = formatS3Session([{ fileIndex: 0, key: 'k', uploadId: 'u' }])

    await expect(s3Multipart(ports).cancel!(sessionId, stop.signal)).resolves.toBeUndefined()
  })

  it('aborts again while the store lists parts that came late', async () => {
    const { s3, protocol } = await startS3Rig({
      faults: [1, 2].map((nth) => ({ operation: 'abort', nth, answer: { status: 204 } }) as const),
    })
    const { sessionId } = await protocol.create([plan(0, 'a')], NEVER)
    s3.arriveLate([...s3.uploads.keys()][0]!, 1, Buffer.from('late'))

    await protocol.cancel!(sessionId, NEVER)

    expect(s3.requestsOf('abort')).toHaveLength(3)
    expect(s3.uploads.size).toBe(0)
  })

  it('says so when parts keep coming, and still ends the other uploads', async () => {
    const { s3, protocol } = await startS3Rig()
    const { sessionId } = await protocol.create([plan(0, 'a'), plan(1, 'b')], NEVER)
    const uploads = s3.uploads as Map<string, { key: string; parts: Map<number, { bytes: Buffer; etag: string }> }>
    const [first] = uploads.keys()
    // It says that it ends the first, and keeps it.
    uploads.delete = (uploadId) => uploadId === first || Map.prototype.delete.call(uploads, uploadId)
    s3.arriveLate(first!, 1, Buffer.from('late'))

    await expect(protocol.cancel!(sessionId, NEVER)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REFUSED' })

    expect([...s3.uploads.keys()]).toEqual([first])
  })

  it('leaves a completed object alone', async () => {
    const { s3, protocol, run } = await startS3Rig()
    const { sessionId } = await run([sourceOf('a', 1_500)])

    await protocol.cancel!(sessionId, NEVER)

    expectObject(s3, 'a', 1_500)
  })

  it('refuses what is no id of its session', async () => {
    const { protocol } = await startS3Rig()

    await expect(protocol.cancel!('upload-1', NEVER)).rejects.toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
  })
})
