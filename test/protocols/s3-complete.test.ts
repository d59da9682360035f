// How completing an S3 upload ends when the store's answer is late, lost, wrong or holds an error.

import { describe, expect, it } from 'vitest'
import { createScriptedTransport } from '../helpers/scripted-transport.ts'
import type { ScriptedS3Options } from '../helpers/scripted-s3.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import type { HostWait } from '../../src/core/ports.ts'
import { completeS3Upload } from '../../src/protocols/s3-complete.ts'
import { s3Multipart, type S3MultipartOptions } from '../../src/protocols/s3-multipart.ts'
import { expectObject, NEVER, plan, sourceOf, startS3Rig } from './s3-rig.ts'
import { storeOfAnswers } from './s3-rig-of-answers.ts'

const failing = (code: string, status = 200) => ({
  status,
  body: `<?xml version="1.0"?>\n<Error><Code>${code}</Code></Error>`,
})

/** An upload of three parts that is ready to be completed. */
async function ready(store: ScriptedS3Options = {}, own: Partial<S3MultipartOptions> = {}) {
  const rig = await startS3Rig(store, own)
  const { sessionId } = await rig.protocol.create([plan(0, 'a.mp4', 3)], NEVER)
  const uploadId = [...rig.s3.uploads.keys()][0]!
  const parts = [1, 2, 3].map((partNumber) => {
    const etag = rig.s3.arriveLate(uploadId, partNumber, Buffer.alloc(1_000, partNumber))
    return { partNumber, receipt: { acceptedEnd: partNumber * 1_000, etag, isVerified: false } }
  })
  const confirm = () => rig.protocol.confirm!(sessionId, uploadId, parts, NEVER)
  return { ...rig, sessionId, uploadId, parts, confirm }
}

describe('an error behind a 200', () => {
  it('is read, and what may pass is tried again', async () => {
    const faults = [{ operation: 'complete', nth: 1, answer: failing('InternalError') }] as const
    const { s3, confirm } = await ready({ faults })

    await confirm()

    expect(s3.objects.get('a.mp4')?.bytes.length).toBe(3_000)
    expect(s3.requestsOf('complete')).toHaveLength(2)
  })

  it('is no failure when the object was made all the same', async () => {
    const faults = [{ operation: 'complete', nth: 1, work: true, answer: failing('InternalError') }] as const
    const { s3, confirm } = await ready({ faults })

    await confirm()

    expect(s3.requestsOf('complete').map(({ status }) => status)).toEqual([200, 404])
    expect(s3.requestsOf('head')).toHaveLength(1)
  })

  it('is a refusal when the store means it', async () => {
    const faults = [{ operation: 'complete', nth: 'every', answer: failing('InvalidPart') }] as const
    const { s3, confirm } = await ready({ faults })

    await expect(confirm()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_CONFIRM_REFUSED',
      message: 'The storage refused to complete the upload of a.mp4 (200 InvalidPart).',
    })
    expect(s3.objects.size).toBe(0)
  })
})

describe('a lost answer', () => {
  it('is success when the object is there with the ETag of these parts', async () => {
    const { s3, confirm } = await ready({ faults: [{ operation: 'complete', nth: 1, work: true }] })

    await confirm()

    expect(s3.requests.map(({ operation }) => operation)).toEqual(['create', 'complete', 'complete', 'list', 'head'])
  })

  it('is success also where the store has another word for what is no longer there', async () => {
    const faults = [
      { operation: 'complete', nth: 1, work: true },
      { operation: 'complete', nth: 2, answer: failing('InvalidPart', 400) },
    ] as const
    const { s3, confirm } = await ready({ faults })

    await confirm()

    expect(s3.requestsOf('complete')).toHaveLength(2)
    expect(s3.objects.get('a.mp4')?.bytes.length).toBe(3_000)
  })

  it('is success again in a next life that knows nothing of the first try', async () => {
    const { s3, options, sessionId, uploadId, parts, confirm } = await ready()
    await confirm()

    await s3Multipart(options).confirm!(sessionId, uploadId, parts, NEVER)

    expect(s3.objects.get('a.mp4')?.bytes.length).toBe(3_000)
  })

  it('is followed by another try when nothing was done', async () => {
    const { s3, confirm } = await ready({ faults: [{ operation: 'complete', nth: 1 }] })

    await confirm()

    expect(s3.requestsOf('complete')).toHaveLength(2)
    expect(s3.objects.size).toBe(1)
  })

  it('is no success when the upload is gone and another object lies under the key', async () => {
    const { s3, uploadId, confirm } = await ready()
    const other = { bytes: Buffer.alloc(3_000, 9), etag: `"${'0'.repeat(32)}-3"`, modifiedAtMs: Date.now() }
    s3.objects.set('a.mp4', other)
    ;(s3.uploads as Map<string, unknown>).delete(uploadId)

    await expect(confirm()).rejects.toMatchObject({ code: 'ERR_UPLOAD_CONFIRM_REFUSED' })
  })

  it('is no success when the upload is gone and there is no object', async () => {
    const { s3, uploadId, confirm } = await ready()
    ;(s3.uploads as Map<string, unknown>).delete(uploadId)

    await expect(confirm()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_CONFIRM_REFUSED',
      message: 'The storage has no upload of a.mp4 any more, and no object that is proven to be it.',
    })
  })
})

/** One part of an upload, for a store whose answers are given one by one. */
const UPLOAD = { fileIndex: 0, key: 'a.mp4', uploadId: 'u-1' }
const PARTS = [{ partNumber: 1, receipt: { acceptedEnd: 1_000, etag: '"e"', isVerified: false } }]

it.each([
  ['list', 'unreadable'],
  ['head', 'unreadable'],
  ['list', { status: 200 }],
  ['list', failing('NoSuchUpload', 404)],
] as const)(
  'one that was heard stays in doubt while the store cannot be asked what became of it (%s, after %j)',
  async (asked, answer) => {
    const { ports, clock } = storeOfAnswers(({ operation }) => {
      if (operation === 'complete') return answer
      return operation === asked ? 'no connection' : failing('NoSuchUpload', 404)
    })
    const doubts: unknown[] = []
    const onWaiting = (wait?: HostWait | null) => wait?.operation === asked && doubts.push(wait.isDoubtful)

    const failed = completeS3Upload({ ...ports, onWaiting }, UPLOAD, PARTS, NEVER).catch((error: unknown) => error)
    await clock.advance(2 * 3_600_000)

    expect(await failed).toMatchObject({ code: 'ERR_UPLOAD_HOST_UNREACHABLE', details: { isDoubtful: true } })
    expect(new Set(doubts)).toEqual(new Set([true]))
  },
)

it('one that the host did not sign was heard by nobody, and is not in doubt where the store cannot be asked either', async () => {
  const { ports, clock } = storeOfAnswers(() => 'no connection')
  const sign: typeof ports.sign = (request, signal) =>
    request.operation === 'complete' ? Promise.reject(new Error('Locked.')) : ports.sign(request, signal)

  const failed = completeS3Upload({ ...ports, sign }, UPLOAD, PARTS, NEVER).catch((error: unknown) => error)
  await clock.advance(2 * 3_600_000)

  expect(await failed).toMatchObject({
    code: 'ERR_UPLOAD_HOST_UNREACHABLE',
    details: { operation: 'list', isDoubtful: false },
  })
})

describe('an assembly that takes minutes', () => {
  it('is waited for ten times as long as another call, and asked for once', async () => {
    const [clock, transport] = [createSimulatedClock(), createScriptedTransport()]
    const completing = completeS3Upload(
      { clock, transport, random: () => 0.5, sign: ({ key }) => Promise.resolve({ url: `https://s3.test/${key}` }) },
      UPLOAD,
      PARTS,
      NEVER,
    )
    const { request, reply } = await transport.next()
    await clock.advance(299_000)

    expect([request.signal.aborted, transport.waitingCount]).toEqual([false, 0])
    reply({ status: 200, body: '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>' })
    await expect(completing).resolves.toBeUndefined()
    expect(clock.pending).toBe(0)
  })
})

describe('an object whose ETag proves nothing', () => {
  it('is ours when it has the size and was made after the upload began', async () => {
    const faults = [{ operation: 'complete', nth: 1, work: true }] as const
    const { s3, confirm } = await ready({ hasOpaqueEtags: true, faults })

    await confirm()

    expect(s3.objects.get('a.mp4')?.bytes.length).toBe(3_000)
  })

  it.each([
    ['is older than the upload', 3_000, -60_000, '"opaque"'],
    ['has another size', 2_999, 60_000, '"opaque"'],
    ['was made of another number of parts', 3_000, 60_000, `"${'0'.repeat(32)}-77"`],
  ])('is not ours when it %s', async (_name, sizeBytes, ageMs, etag) => {
    const { s3, uploadId, confirm } = await ready({ hasOpaqueEtags: true })
    s3.objects.set('a.mp4', { bytes: Buffer.alloc(sizeBytes), etag, modifiedAtMs: Date.now() + ageMs })
    ;(s3.uploads as Map<string, unknown>).delete(uploadId)

    await expect(confirm()).rejects.toMatchObject({ code: 'ERR_UPLOAD_CONFIRM_REFUSED' })
  })
})

describe('an answer that makes no sense', () => {
  it.each([
    ['an empty 200', { status: 200 }],
    ['a page', { status: 200, body: '<html>Welcome</html>' }],
    ['a result that is cut off', { status: 200, body: '<CompleteMultipartUploadResult><ETag>"a' }],
  ])('%s is checked with the store, and success is said when the work was done', async (_name, answer) => {
    const { s3, confirm } = await ready({ faults: [{ operation: 'complete', nth: 1, work: true, answer }] })

    await confirm()

    expect(s3.requestsOf('head')).toHaveLength(1)
  })

  it('is an error when it stays and the upload is still open', async () => {
    const faults = [{ operation: 'complete', nth: 'every', answer: { status: 200 } }] as const
    const { s3, confirm } = await ready({ faults })

    await expect(confirm()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })

    expect(s3.requestsOf('complete')).toHaveLength(3)
    expect(s3.uploads.size).toBe(1)
  })
})

it('that the host signs for no more is told of that, and the upload stays open', async () => {
  const { s3, options, sessionId, uploadId, parts } = await ready()
  const sign: S3MultipartOptions['sign'] = (request) =>
    request.operation === 'complete' ? Promise.reject(new Error('Locked.')) : Promise.resolve(s3.sign(request))

  const confirmed = s3Multipart({ ...options, sign }).confirm!(sessionId, uploadId, parts, NEVER)

  await expect(confirmed).rejects.toMatchObject({ details: { operation: 'complete', isSigning: true } })
  expect([s3.objects.size, s3.uploads.size]).toEqual([0, 1])
})

describe('through the engine', () => {
  it('sends a part again that a late arrival replaced, when its attempt was doubtful', async () => {
    // The first answer to a part is lost after its work: the store has it, and it is sent again.
    const rig = await startS3Rig({ faults: [{ operation: 'part', nth: 1, work: true }] })

    const { result } = await rig.run([sourceOf('a.mp4', 2_500)], {
      concurrency: 1,
      onEvent(event) {
        const { fileState } = { fileState: event.type === 'fileState' ? event.file.state : '' }
        if (fileState !== 'confirming' || rig.s3.requestsOf('complete').length > 0) return
        rig.s3.arriveLate([...rig.s3.uploads.keys()][0]!, 1, Buffer.from('late bytes of another attempt'))
      },
    })

    expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
    expectObject(rig.s3, 'a.mp4', 2_500)
    expect(rig.s3.requestsOf('complete').map(({ status }) => status)).toEqual([400, 200])
  })

  it('fails the file, and no other, whose stale ETag nothing explains', async () => {
    const rig = await startS3Rig()

    const { result, record } = await rig.run([sourceOf('a', 1_500), sourceOf('bb', 1_500)], {
      onEvent(event) {
        if (event.type !== 'fileState' || event.file.state !== 'confirming' || event.file.plan.name !== 'a') return
        rig.s3.arriveLate(String(event.file.serverFileId), 2, Buffer.from('of somebody else'))
      },
    })

    expect(result).toEqual({ confirmedCount: 1, failedCount: 1 })
    expect(record.ledger().files[0]?.error).toEqual({
      code: 'ERR_UPLOAD_CONFIRM_REFUSED',
      status: 400,
      message: 'a: The storage refused to complete the upload of a (400 InvalidPart).',
      file: 'a',
    })
    expectObject(rig.s3, 'bb', 1_500)
  })
})
