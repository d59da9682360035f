// One call to a store that the host signs: what is sent, how often, with which patience, and what is told of it.

import { describe, expect, it } from 'vitest'
import { UploadError } from '../../src/core/errors.ts'
import type { HostWait } from '../../src/core/ports.ts'
import { abortS3Upload } from '../../src/protocols/s3-abort.ts'
import { callS3, type S3Call } from '../../src/protocols/s3-call.ts'
import { signPart, type S3CallPorts, type S3Sign } from '../../src/protocols/s3-sign.ts'
import { failure, xml } from '../helpers/scripted-s3.ts'
import { NEVER } from './s3-rig.ts'
import { missing, storeOfAnswers, type Asked, type Told } from './s3-rig-of-answers.ts'

const LIST: S3Call = { operation: 'list', key: 'k', uploadId: 'u' }
const CREATE: S3Call = { operation: 'create', key: 'k' }
const HOUR_MS = 3_600_000

function calling(call: S3Call, answerTo: (asked: Asked) => Told, own: Partial<S3CallPorts> = {}) {
  const store = storeOfAnswers(answerTo)
  const stop = new AbortController()
  const waits: (HostWait | null | undefined)[] = []
  const ports = { ...store.ports, ...own, onWaiting: (wait?: HostWait | null) => waits.push(wait) }
  const ended = callS3(ports, call, stop.signal).then(
    (outcome) => ({ outcome }),
    (error: unknown) => ({ error }),
  )
  return { ...store, ended, waits, abort: () => stop.abort(new Error('enough')) }
}

describe('a request', () => {
  it.each([
    [CREATE, 'POST', 0],
    [LIST, 'GET', undefined],
    [{ operation: 'head', key: 'k' }, 'HEAD', undefined],
    [{ operation: 'abort', key: 'k', uploadId: 'u' }, 'DELETE', undefined],
  ] as const)('for %o is a %s with a body of %s bytes and a bound for its answer', async (call, method, bytes) => {
    const { ended, asked } = calling(call, () => ({ status: 200 }))
    await ended

    const { request } = asked[0]!
    expect(request).toMatchObject({ method, maxReplyBytes: 2 * 1024 * 1024 })
    expect(request.body?.kind === 'bytes' ? request.body.bytes.length : request.body).toBe(bytes)
  })
})

describe('a try without an answer', () => {
  const complete: S3Call = { operation: 'complete', key: 'k', uploadId: 'u' }

  it.each([
    [LIST, {}, 30_000],
    [complete, {}, 300_000],
    [complete, { callTimeoutMs: 7_000 }, 70_000],
  ])('of %o with %o has its time', async (call, own, limitMs) => {
    const { clock, abort, ended } = calling(call, () => 'never', own)
    await clock.advance(0)

    expect(clock.nextDueInMs).toBe(limitMs)
    abort()
    await ended
  })
})

describe('how often it is sent', () => {
  it.each<[string, Told, number, number]>([
    ['an answer that may pass uses up tries', { status: 500 }, 3, 3],
    ['an answer that cannot be read uses up tries', 'unreadable', 3, 3],
    ['a redirect ends it', 'redirected', 3, 1],
    ['who wants one try does not wait for a busy store', { status: 503 }, 1, 1],
    ['who wants one try repeats no other answer', { status: 500 }, 1, 1],
  ])('%s', async (_, answer, tries, times) => {
    const { ended, asked, clock } = calling(LIST, () => answer, { tries })
    await clock.advance(2 * HOUR_MS)

    expect(await ended).toMatchObject({ outcome: { kind: typeof answer === 'string' ? 'missing' : 'refused' } })
    expect(asked).toHaveLength(times)
    expect(clock.pending).toBe(0)
  })

  it.each<Told>([{ status: 503 }, 'no connection'])('a store that is away uses up none of two (%o)', async (away) => {
    const { ended, asked, clock } = calling(LIST, ({ nth }) => (nth <= 8 ? away : { status: 200 }), { tries: 2 })
    await clock.advance(HOUR_MS)

    expect(await ended).toMatchObject({ outcome: { kind: 'done' } })
    expect(asked).toHaveLength(9)
  })

  it('is waited for also where its transport came with another copy of the package', async () => {
    const facts = { code: 'ERR_UPLOAD_NETWORK', isRetryable: true, phase: 'connect', ending: 'neverWhole' }
    const { ports } = storeOfAnswers(() => ({ status: 200 }))
    let sent = 0
    const send: typeof ports.transport.send = (request) =>
      (sent += 1) <= 8
        ? Promise.reject(Object.assign(new Error('No connection'), facts))
        : ports.transport.send(request)
    const { ended, clock, waits } = calling(LIST, () => 'never', { transport: { ...ports.transport, send }, tries: 2 })
    await clock.advance(HOUR_MS)

    expect(await ended).toMatchObject({ outcome: { kind: 'done' } })
    expect(waits).toContainEqual(expect.objectContaining({ reason: 'no connection' }))
  })

  it('says in the end how often, and never that its address may be misspelt', async () => {
    const { ended, asked, clock } = calling(LIST, () => 'no connection', { giveUpAfterMs: 60_000 })
    await clock.advance(HOUR_MS)

    const { error } = (await ended) as { error: UploadError }
    expect(error.message).toContain(`(no connection). Gave up after ${asked.length} attempts to list the upload of k.`)
    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      details: { operation: 'list', attempts: asked.length, host: 'bucket.example:443', isBaseUrlDoubtful: undefined },
    })
  })

  it('tells of the storage when it waits', async () => {
    const { clock, waits, abort, ended } = calling(LIST, () => ({ status: 503, headers: { 'retry-after': '60' } }))
    await clock.advance(0)
    abort()
    await ended

    expect(waits).toMatchObject([undefined, { who: 'storage', operation: 'list', reason: 'it answers 503' }])
  })
})

describe('a call that may have been heard before', () => {
  const signedOnce =
    (then: () => Promise<never>): S3Sign =>
    async ({ operation, key }) =>
      operation === 'create' && (signatures += 1) > 1
        ? then()
        : { url: `https://bucket.example/${key}?do=${operation}` }
  let signatures = 0

  it.each([
    [
      'is refused by the host',
      new UploadError('ERR_UPLOAD_CREDENTIALS_REFUSED', 'No.'),
      'ERR_UPLOAD_CREDENTIALS_REFUSED',
    ],
    ['is refused by a rule', new UploadError('ERR_UPLOAD_INSECURE_URL', 'No.'), 'ERR_UPLOAD_INSECURE_URL'],
  ])('says so when the next one %s', async (_, refusal, code) => {
    signatures = 0
    const { ended, clock } = calling(CREATE, () => ({ status: 500 }), {
      sign: signedOnce(() => Promise.reject(refusal)),
    })
    await clock.advance(60_000)

    expect(await ended).toMatchObject({ error: { code, details: { isDoubtful: true } } })
  })

  it('says nothing of it where none was', async () => {
    const refusal = new UploadError('ERR_UPLOAD_INSECURE_URL', 'No.')
    const { ended } = calling(CREATE, () => ({ status: 500 }), { sign: () => Promise.reject(refusal) })

    expect(await ended).toEqual({ error: refusal })
  })

  it('ends with the reason of whoever gave it up', async () => {
    signatures = 0
    const call = calling(CREATE, () => ({ status: 500 }), { sign: signedOnce(() => new Promise(() => undefined)) })
    await call.clock.advance(10_000)
    expect(signatures).toBe(2)
    call.abort()

    expect(await call.ended).toEqual({ error: new Error('enough') })
  })
})

describe('a signer', () => {
  const part = { operation: 'part', key: 'k', uploadId: 'u', partNumber: 1 } as const

  /** Signs a part; `answerTo`: what the signer does, by how often it was asked. */
  function signing(answerTo: (nth: number) => Promise<{ url: string }>, own: Partial<S3CallPorts> = {}) {
    const { ports, clock } = storeOfAnswers(() => 'never')
    const atMs: number[] = []
    const sign: S3Sign = () => {
      atMs.push(clock.monotonicNow())
      return answerTo(atMs.length)
    }
    const ended = signPart({ ...ports, ...own, sign }, part, NEVER).catch((error: unknown) => error)
    return { clock, atMs, ended }
  }

  it('that fails is asked again, with rests that grow, as often as it may be', async () => {
    const { ended, atMs, clock } = signing(() => Promise.reject(new Error('x'.repeat(1_000))), { tries: 3 })
    await clock.advance(60_000)

    const start = 'The host did not sign the part of k. It says: '
    expect(await ended).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY', message: start + 'x'.repeat(300) })
    expect(atMs).toHaveLength(3)
    expect(atMs[1]! > 0 && atMs[2]! - atMs[1]! > atMs[1]!).toBe(true)
  })

  it('that gives nothing has not signed', async () => {
    const { ended, atMs, clock } = signing(() => Promise.resolve(undefined as never), { tries: 2 })
    await clock.advance(60_000)

    expect(await ended).toMatchObject({ message: expect.stringContaining('did not sign the part of k') as string })
    expect(atMs).toHaveLength(2)
  })

  it('may give plain HTTP where that is allowed', async () => {
    const signed = { url: 'http://store.example/k' }

    expect(await signing(() => Promise.resolve(signed), { isHttpAllowed: true }).ended).toMatchObject(signed)
  })

  it('is waited for no longer than the call is wanted', async () => {
    const { ports, clock } = storeOfAnswers(() => 'never')
    const stop = new AbortController()
    const sign: S3Sign = () => new Promise(() => undefined)
    const ended = signPart({ ...ports, sign }, part, stop.signal).catch((error: unknown) => error)
    stop.abort(new Error('enough'))

    expect(await ended).toEqual(new Error('enough'))
    expect(clock.pending).toBe(0)
  })

  it('that is a server which writes no headers as null has signed', async () => {
    const signed = { url: 'https://store.example/k', headers: null as never }

    expect(await signing(() => Promise.resolve(signed)).ended).toEqual({ url: signed.url, headers: {} })
  })

  it.each([
    [
      'refuses in words of ours',
      () => Promise.reject(new UploadError('ERR_UPLOAD_CREDENTIALS_REFUSED', 'No.')),
      'ERR_UPLOAD_CREDENTIALS_REFUSED',
    ],
    ['signs what may not be used', () => Promise.resolve({ url: 'http://store.example/k' }), 'ERR_UPLOAD_INSECURE_URL'],
  ])('that %s is asked once', async (_, answer, code) => {
    const { ended, atMs } = signing(answer)

    expect(await ended).toMatchObject({ code })
    expect(atMs).toHaveLength(1)
  })

  it.each([
    [{}, 30_000, 'nothing for 30 s.'],
    [{ callTimeoutMs: 7_000 }, 7_000, 'nothing for 7 s.'],
  ])('that says nothing has its time (%o)', async (own, limitMs, words) => {
    const { ended, atMs, clock } = signing(() => new Promise(() => undefined), { ...own, tries: 2 })
    await clock.advance(limitMs - 1)
    expect(clock.nextDueInMs).toBe(1)
    await clock.advance(10 * limitMs)

    expect(await ended).toMatchObject({ message: `The host did not sign the part of k. It says: ${words}` })
    expect(atMs).toHaveLength(2)
  })

  it('of a call that fails uses up its tries, and one that is out of reach itself is waited for', async () => {
    const failing = calling(LIST, () => 'never', { tries: 3, sign: () => Promise.reject(new Error('asleep')) })
    await failing.clock.advance(60_000)
    expect(await failing.ended).toMatchObject({ outcome: { kind: 'missing', isDoubtful: false } })

    let asked = 0
    const away = calling(LIST, () => ({ status: 200 }), {
      tries: 2,
      sign: () =>
        (asked += 1) <= 8 ? Promise.reject(missing('no connection')) : Promise.resolve({ url: 'https://b.example/k' }),
    })
    await away.clock.advance(HOUR_MS)
    expect(await away.ended).toMatchObject({ outcome: { kind: 'done' } })
  })
})

describe('the end of an upload', () => {
  const PART = xml('ListPartsResult', '<Part><PartNumber>1</PartNumber><ETag>"a"</ETag><Size>1</Size></Part>')
  const aborting = (answerTo: (asked: Asked) => Told) => {
    const store = storeOfAnswers(answerTo)
    const ended = abortS3Upload(store.ports, { key: 'k', uploadId: 'u' }, NEVER).then(
      () => 'ended',
      (error: unknown) => error,
    )
    return { ...store, ended, aborts: () => store.asked.filter(({ operation }) => operation === 'abort') }
  }

  it.each([
    ['an empty list', xml('ListPartsResult', '')],
    ['no such upload', failure(404, 'NoSuchUpload', '')],
  ])('is reached with %s, after one abort', async (_, list) => {
    const { ended, aborts } = aborting(({ operation }) => (operation === 'list' ? list : { status: 204 }))

    expect(await ended).toBe('ended')
    expect(aborts()).toHaveLength(1)
  })

  it('was reached before where the store knows no such upload, even if it still lists parts, as OpenStack Swift does', async () => {
    const gone = failure(404, 'NoSuchKey', '')
    const { ended, operations } = aborting(({ operation }) => (operation === 'list' ? PART : gone))

    expect(await ended).toBe('ended')
    expect(operations()).toEqual(['abort'])
  })

  it('is asked of the list where a 404 names no upload', async () => {
    const { ended, operations } = aborting(({ operation }) =>
      operation === 'list' ? failure(404, 'NoSuchBucket', '') : { status: 404 },
    )

    expect(await ended).toMatchObject({ serviceCode: 'NoSuchBucket' })
    expect(operations()).toEqual(['abort', 'list'])
  })

  it('is not reached where the store refuses it', async () => {
    const { ended, operations } = aborting(() => ({ status: 403 }))

    expect(await ended).toMatchObject({ code: 'ERR_UPLOAD_ADDRESS_REFUSED', status: 403 })
    expect(operations()).toEqual(['abort'])
  })

  it('is asked for five times, with rests that let late parts come, and may be asked for again', async () => {
    const { ended, aborts, clock } = aborting(({ operation }) => (operation === 'list' ? PART : { status: 204 }))
    await clock.advance(HOUR_MS)

    expect(await ended).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REFUSED', isRetryable: true })
    const rests = aborts().map(({ atMs }, nth, all) => atMs - (all[nth - 1]?.atMs ?? 0))
    expect(rests).toHaveLength(5)
    expect(rests.slice(1).every((rest) => rest >= 250)).toBe(true)
    expect(clock.pending).toBe(0)
  })
})
