// One part, once: what came of it, and that nothing of it is left.

import { readAddress } from '../../../src/core/address/address.ts'
import { createPace } from '../../../src/core/line/pace.ts'
import { createHash } from 'node:crypto'
import { getEventListeners } from 'node:events'

import { describe, expect, it, vi } from 'vitest'
import { TransportError, UploadError } from '../../../src/core/errors.ts'
import type { Hasher, Reader, Transport } from '../../../src/core/ports.ts'
import type { Attempt, AttemptResult } from '../../../src/core/attempt/attempt.ts'
import { createReaderCache } from '../../../src/core/attempt/reader-cache.ts'
import { sendPart, type SendPartPorts } from '../../../src/core/attempt/send-part.ts'
import { DEFAULT_TIMEOUTS } from '../../../src/core/attempt/watchdog.ts'
import { wholeBodies } from '../../../src/core/attempt/whole-body.ts'
import { windowBodies } from '../../../src/core/attempt/window-bodies.ts'
import { createScriptedTransport } from '../../helpers/scripted-transport.ts'
import { createSimulatedClock, type SimulatedClock } from '../../helpers/simulated-clock.ts'
import { slowHasher } from '../../simulation/slow-hasher.ts'
import { testProtocol } from '../../simulation/test-protocol.ts'
import { watchedSource } from '../../simulation/watched-source.ts'
import { fill } from '../../simulation/world.ts'

const BYTES = fill(500, 3)
const MD5 = createHash('md5').update(BYTES).digest('hex')

describe('a part that is answered', () => {
  it('is received with the ETag as it came and the MD5 of what was sent', async () => {
    const { send, transport } = await setUp({ isHashed: true })
    const result = send()
    const request = await transport.next()
    expect(Buffer.from(await request.bodyBytes())).toEqual(Buffer.from(BYTES))
    request.request.onSent?.(500)

    request.reply({ status: 200, headers: { etag: `"${MD5}"` } })

    expect(await result).toEqual({
      kind: 'received',
      receipt: { acceptedEnd: 500, etag: `"${MD5}"`, md5: MD5, isVerified: true },
    })
  })

  it('is confirmed but not verified when the ETag is opaque, or names a key of its own', async () => {
    for (const headers of [
      { etag: '"abc-1"' },
      { etag: `"${'0'.repeat(32)}"`, 'x-amz-server-side-encryption': 'aws:kms' },
      { etag: `"${'0'.repeat(32)}"`, 'x-amz-server-side-encryption-customer-algorithm': 'AES256' },
      { etag: `"${'0'.repeat(32)}"`, 'x-goog-encryption-algorithm': 'AES256' },
    ]) {
      const { send, answer } = await setUp({ isHashed: true })
      const result = send()

      await answer({ status: 200, headers })

      expect(await result).toMatchObject({ kind: 'received', receipt: { md5: MD5, isVerified: false } })
    }
  })

  it('is confirmed but not verified when the ETag differs and the platform hides whether it is an MD5', async () => {
    for (const [exposed, kind] of [
      [{}, 'received'],
      [{ 'x-amz-server-side-encryption': 'AES256' }, 'refused'],
    ] as const) {
      const { send, answer } = await setUp({ isHashed: true })
      const result = send()

      await answer({ status: 200, hidesHeaders: true, headers: { etag: `"${'0'.repeat(32)}"`, ...exposed } })

      expect(await result).toMatchObject(kind === 'received' ? { kind, receipt: { isVerified: false } } : { kind })
    }
  })

  it('is tried again when the ETag is another MD5, and the message names encryption and the way out', async () => {
    const { send, answer } = await setUp({ isHashed: true })
    const result = send()

    await answer({ status: 200, headers: { etag: `"${'0'.repeat(32)}"` } })

    const { verdict } = (await result) as Extract<AttemptResult, { kind: 'refused' }>
    expect([verdict.kind, verdict.error.code, verdict.error.isRetryable]).toEqual([
      'retry',
      'ERR_UPLOAD_DIGEST_MISMATCH',
      true,
    ])
    expect(verdict.error.message).toMatch(/encrypts.*--verify off/)
  })

  it('does not believe a success that came before the body was sent', async () => {
    const { send, transport } = await setUp()
    const result = send()
    const request = await transport.next()
    request.request.onSent?.(499)

    request.reply({ status: 200, headers: { etag: '"x"' } })

    expect(await result).toMatchObject({ kind: 'refused', verdict: { kind: 'retry', error: { isRetryable: true } } })
  })

  it('does not believe a far end that has more than was sent or than there is', async () => {
    for (const acceptedEnd of ['501', '400']) {
      const { send, transport } = await setUp({ end: acceptedEnd === '400' ? 450 : 500 })
      const result = send()
      const request = await transport.next()
      request.request.onSent?.(acceptedEnd === '400' ? 399 : 500)

      request.reply({ status: 200, headers: { etag: '"x"', 'x-accepted-end': acceptedEnd } })

      expect(await result).toMatchObject({ kind: 'refused', verdict: { kind: 'retry' } })
    }
  })

  it('keeps what was taken of it, without a digest that would prove nothing', async () => {
    const { send, answer } = await setUp({ isHashed: true })
    const result = send()

    await answer({ status: 200, headers: { etag: `"${MD5}"`, 'x-accepted-end': '320' } })

    expect(await result).toEqual({
      kind: 'received',
      receipt: { acceptedEnd: 320, etag: `"${MD5}"`, isVerified: false },
    })
  })

  it('is confirmed but not verified where it is what was left of a part: its digest would not be the one of the part', async () => {
    const { send, answer } = await setUp({ isHashed: true, isRest: true })
    const result = send()

    await answer({ status: 200, headers: { etag: `"${'0'.repeat(32)}"` } })

    expect(await result).toEqual({
      kind: 'received',
      receipt: { acceptedEnd: 500, etag: `"${'0'.repeat(32)}"`, isVerified: false },
    })
  })

  it('is judged no more while its source is looked at, and is over when that is closed', async () => {
    let close: () => void = () => undefined
    const closing = new Promise<void>((resolve) => (close = resolve))
    const { send, answer, source, clock, controller } = await setUp()
    const verify = (): Promise<void> => new Promise((resolve) => clock.setTimeout(() => resolve(), 3_600_000))
    const result = send({ ...(await source.open({ sizeBytes: 500 })), verify, close: () => closing })
    await answer({ status: 200, headers: { etag: '"x"' } })

    await clock.advance(3_600_000)
    expect([await isSettled(result), controller.signal.aborted]).toEqual([false, false])
    close()
    expect((await result).kind).toBe('received')
  })

  it('says that it needs its slot no more once it was taken, where none of its bytes pass through us', async () => {
    for (const [isBlob, status, times] of [
      [true, 200, 1],
      [true, 503, 0],
      [false, 200, 0],
    ] as const) {
      const onAnswered = vi.fn()
      const { send, answer } = await setUp({ isBlob, onAnswered })
      const result = send()
      expect(onAnswered).not.toHaveBeenCalled()

      await answer({ status, headers: { etag: '"x"' } })

      await result
      expect(onAnswered).toHaveBeenCalledTimes(times)
    }
  })

  it('fails the file when the ETag is missing', async () => {
    const { send, answer } = await setUp()
    const result = send()

    await answer({ status: 200 })

    expect(await result).toMatchObject({ verdict: { kind: 'final', error: { code: 'ERR_UPLOAD_ETAG_MISSING' } } })
  })

  it('fails the file when the source has changed meanwhile, although the bytes were taken', async () => {
    const { send, answer, source } = await setUp()
    const result = send()
    source.change()

    await answer({ status: 200, headers: { etag: '"x"' } })

    expect(await result).toMatchObject({ kind: 'source', error: { code: 'ERR_UPLOAD_SOURCE_CHANGED' } })
  })
})

describe('a part that is not answered', () => {
  it.each([
    ['connect', 'neverWhole'],
    ['send', 'neverWhole'],
    ['answer', 'doubtful'],
  ] as const)('is missing, ended in %s as %s', async (phase, ending) => {
    const { send, transport } = await setUp()
    const result = send()

    ;(await transport.next()).fail({ phase })

    expect(await result).toMatchObject({ kind: 'missing', ending, error: { phase } })
  })

  it('is ended by the watch over connecting, sending and the answer', async () => {
    for (const [advance, phase] of [
      [15_000, 'connect'],
      [31_000, 'send'],
      [61_000, 'answer'],
    ] as const) {
      const { send, transport, clock } = await setUp()
      const result = send()
      const { request } = await transport.next()
      if (phase !== 'connect') request.onSent?.(phase === 'send' ? 100 : 500)

      await clock.advance(advance)

      expect(await result).toMatchObject({ kind: 'missing', error: { code: 'ERR_UPLOAD_TIMEOUT', phase } })
    }
  })

  it('waits longer where progress comes only at the end', async () => {
    const { send, transport, clock } = await setUp({ isProgressLive: false, bytes: fill(8 * 1024 * 60, 1) })
    const result = send()
    await transport.next()

    await clock.advance(74_000)
    expect(await isSettled(result)).toBe(false)
    await clock.advance(1_000)

    expect(await result).toMatchObject({ kind: 'missing', error: { phase: 'connect' } })
  })

  it('judges no stall while a slow disk keeps it waiting', async () => {
    const { send, transport, clock } = await setUp({ readMs: 3_600_000 })
    const result = send()
    const body = (await transport.next()).bodyBytes()

    await clock.advance(3_599_999)
    expect(await isSettled(result)).toBe(false)
    await clock.advance(1)

    expect(Buffer.from(await body)).toEqual(Buffer.from(BYTES))
    expect(await isSettled(result)).toBe(false)
  })

  it('is known by its shape when the transport comes with another copy of the package', async () => {
    const foreign = Object.assign(new Error('The line broke.'), {
      code: 'ERR_UPLOAD_NETWORK',
      ending: 'neverWhole',
      phase: 'send',
      isRetryable: true,
    })
    const { send, transport } = await setUp()
    const result = send()

    ;(await transport.next()).break(foreign)

    expect(foreign).not.toBeInstanceOf(TransportError)
    expect(await result).toMatchObject({ kind: 'missing', error: { code: 'ERR_UPLOAD_NETWORK' } })
  })

  it('is not judged while it rests in a queue of the platform; then it waits for its connection', async () => {
    const { send, transport, clock } = await setUp({ hasQueue: true })
    const result = send()
    const { request } = await transport.next()
    await clock.advance(3_600_000)
    expect(await isSettled(result)).toBe(false)

    request.onStarted?.()
    await clock.advance(299_999)
    expect(await isSettled(result)).toBe(false)
    await clock.advance(1)

    expect(await result).toMatchObject({ kind: 'missing', error: { phase: 'connect' } })
  })

  it.each([500, 0])('is not judged while it waits for something of this machine (%i bytes)', async (sizeBytes) => {
    const { send, transport, clock } = await setUp({ bytes: fill(sizeBytes, 1) })
    const result = send()
    const { request } = await transport.next()
    for (let second = 0; second < 300; second += 1) {
      request.onStarted?.()
      await clock.advance(1_000)
    }
    expect(await isSettled(result)).toBe(false)

    await clock.advance(14_000)

    expect(await result).toMatchObject({ kind: 'missing', error: { phase: 'connect' } })
  })

  it('fails the file where it went unread and its source has changed: that may be why', async () => {
    for (const [isBlob, isChanged, kind] of [
      [true, true, 'source'],
      [true, false, 'missing'],
      [false, true, 'missing'],
    ] as const) {
      const { send, transport, source } = await setUp({ isBlob })
      const result = send()
      const request = await transport.next()
      if (isChanged) source.change()
      request.fail({ phase: 'send' })

      expect(await result).toMatchObject({
        ...{ kind, ending: 'neverWhole' },
        error: { code: kind === 'source' ? 'ERR_UPLOAD_SOURCE_CHANGED' : 'ERR_UPLOAD_NETWORK' },
      })
    }
  })

  it('is a mistake of ours where a transport rejects as it should not, and holds nothing then', async () => {
    const { send, transport, pool, clock } = await setUp()
    const result = send()
    ;(await transport.next()).break(new Error('not ready'))

    await expect(result).rejects.toThrow('not ready')
    expect([pool.leasedBytes(), clock.pending]).toEqual([0, 0])
  })

  it.each([
    ['once, however often a transport says how far it is', 500, [0, 1, 1, 0, 500, 600], [1, 0, 499, 0]],
    ['also where there is none', 0, [0], [0]],
  ])('counts each byte %s', async (_, end, said, grown) => {
    const { send, transport, grownBytes } = await setUp({ end })
    const result = send()
    const scripted = await transport.next()
    for (const bytes of said) scripted.request.onSent?.(bytes)
    scripted.fail({ phase: 'send' })
    await result

    expect(grownBytes).toEqual(grown)
  })

  it('is not believed to be sent by a transport that tells no number', async () => {
    const { send, transport, sent } = await setUp()
    const result = send()
    const scripted = await transport.next()
    scripted.request.onSent?.(NaN)
    scripted.reply({ status: 200, headers: { etag: '"x"' } })

    expect(await result).toMatchObject({ kind: 'refused', verdict: { error: { code: 'ERR_UPLOAD_INTERNAL' } } })
    expect(sent).toEqual([])
  })

  it('hears nothing of what a transport reports after its end', async () => {
    const { send, transport, clock, sent } = await setUp()
    const result = send()
    const scripted = await transport.next()
    const { request } = scripted
    request.onSent?.(100)
    scripted.fail({ phase: 'send' })
    await result
    request.onSent?.(500)

    expect([sent, clock.pending]).toEqual([[100], 0])
  })
})

describe('a part that is aborted', () => {
  it.each(['neverWhole', 'doubtful'] as const)('says how its attempt ended: %s', async (ending) => {
    const { send, transport, controller, clock } = await setUp()
    const result = send()
    const request = await transport.next()
    request.endsAs(ending)

    controller.abort(new Error('paused'))

    expect(await result).toEqual({ kind: 'aborted', ending })
    expect(clock.pending).toBe(0)
  })

  it('leaves its controller alone when it ends by itself, and no listener on it', async () => {
    const { send, transport, controller } = await setUp()
    const result = send()
    ;(await transport.next()).fail({ phase: 'send' })
    await result

    expect([controller.signal.aborted, getEventListeners(controller.signal, 'abort')]).toEqual([false, []])
  })

  it('is not begun under a signal that has fired, nor after it waited for windows', async () => {
    const before = await setUp({ isPoolFull: true })
    const waiting = before.send()
    before.controller.abort(new Error('paused'))
    expect(await waiting).toEqual({ kind: 'aborted', ending: 'neverWhole' })
    expect(await before.send()).toEqual({ kind: 'aborted', ending: 'neverWhole' })

    expect(before.transport.sent).toHaveLength(0)
  })

  it.each([
    ['before it goes unread', { isBlob: true }, 'before'],
    ['while it gets its windows', {}, 'after'],
    ['while it is read as a whole', { isWhole: true }, 'in its read'],
  ] as const)('is not handed to the transport when it is aborted %s', async (_, options, when) => {
    const { send, transport, controller, clock, pool, source } = await setUp(options)
    const handed = vi.spyOn(transport, 'send')
    const abort = (): void => controller.abort(new Error('paused'))
    const reader = await source.open({ sizeBytes: BYTES.byteLength })
    // It does not look at the signal, and may have had its bytes when that fired.
    const read = async (): Promise<void> => {
      await Promise.resolve()
      abort()
    }
    if (when === 'before') abort()
    const result = send(when === 'in its read' ? { ...reader, read } : reader)
    if (when === 'after') abort()

    expect(await result).toEqual({ kind: 'aborted', ending: 'neverWhole' })
    expect(handed).toHaveBeenCalledTimes(0)
    expect([clock.pending, pool.leasedBytes()]).toEqual([0, 0])
  })

  it('asks for no new address, whichever moment before its own is looked at the abort comes in', async () => {
    const isExpired = vi.fn(() => true)
    const isAsked = (): boolean => isExpired.mock.calls.length > 0
    let moments = 0
    for (; !isAsked(); moments += 1) {
      const { send, controller } = await setUp({ isExpired, isBlob: true })
      const result = send()
      for (let moment = 0; moment < moments; moment += 1) await Promise.resolve()
      const wasAsked = isAsked()
      controller.abort(new Error('paused'))

      expect((await result).kind).toBe(wasAsked ? 'expired' : 'aborted')
    }

    expect(moments).toBeGreaterThan(2)
  })

  it('waits no longer for a source that never opens, and was not sending', async () => {
    const { send, attempts, controller } = await setUp({ open: () => new Promise(() => undefined) })
    const result = send()
    expect(await isSettled(result)).toBe(false)
    expect(attempts[0]?.isSending).toBe(false)
    controller.abort(new Error('paused'))

    expect(await result).toEqual({ kind: 'aborted', ending: 'neverWhole' })
  })

  it('gives its windows back only when the read under way has ended', async () => {
    const { send, transport, controller, clock, pool } = await setUp({ readMs: 5_000 })
    const result = send()
    void (await transport.next()).bodyBytes().catch(() => undefined)
    await clock.advance(10)

    controller.abort(new Error('paused'))
    await clock.advance(4_989)
    expect([await isSettled(result), pool.leasedBytes()]).toEqual([false, 64 * 1024])
    await clock.advance(1)

    expect([(await result).kind, pool.leasedBytes()]).toEqual(['aborted', 0])
  })
})

describe('a part and its source', () => {
  it.each([
    ['rejects', () => Promise.reject(new Error('EIO'))],
    [
      'throws at once',
      () => {
        throw new Error('EIO')
      },
    ],
  ])('fails for a read that fails, with a code also when the reader is not ours: it %s', async (_how, read) => {
    const { send, transport, source } = await setUp()
    const broken: Reader = { ...(await source.open({ sizeBytes: 500 })), read }
    const result = send(broken)
    const request = await transport.next()
    await request.bodyBytes().catch((error: unknown) => request.break(error as Error))

    expect(await result).toMatchObject({
      kind: 'source',
      error: { code: 'ERR_UPLOAD_SOURCE_READ', message: 'It could not be read: EIO' },
    })
  })

  it('fails where that cannot be opened, with a code also when it is not ours', async () => {
    const { send } = await setUp({ open: () => Promise.reject(new Error('EIO')) })

    expect(await send()).toMatchObject({
      ...{ kind: 'source', ending: 'neverWhole' },
      error: { code: 'ERR_UPLOAD_SOURCE_READ', message: 'It could not be read: EIO' },
    })
  })

  it('goes out as a blob, without windows, where nothing needs to see the bytes', async () => {
    const { send, transport, pool } = await setUp({ isBlob: true })
    const result = send()
    const request = await transport.next()

    expect([request.request.body?.kind, pool.leasedBytes()]).toEqual(['blob', 0])
    expect(Buffer.from(await request.bodyBytes())).toEqual(Buffer.from(BYTES))
    request.request.onSent?.(500)
    request.reply({ status: 200, headers: { etag: '"x"' } })
    expect((await result).kind).toBe('received')
  })

  it('needs no windows as a blob, and says what to give where bytes must pass through us', async () => {
    const blob = await setUp({ isBlob: true, hasNoBodies: true })
    const result = blob.send()
    expect((await blob.transport.next()).request.body?.kind).toBe('blob')
    blob.controller.abort(new Error('stopped'))
    expect((await result).kind).toBe('aborted')

    const { send, transport } = await setUp({ hasNoBodies: true })
    expect(await send()).toMatchObject({
      kind: 'source',
      ending: 'neverWhole',
      error: { code: 'ERR_UPLOAD_INVALID_ARGUMENT', message: expect.stringContaining('windowBodies()') as string },
    })
    expect(transport.sent).toEqual([])
  })

  it('goes through windows where the bytes must be hashed, blob or not', async () => {
    const { send, transport } = await setUp({ isBlob: true, isHashed: true })
    void send()

    expect((await transport.next()).request.body?.kind).toBe('windows')
  })

  it('goes out as a blob while its digest is computed elsewhere, and is verified', async () => {
    const hashed: number[] = []
    const { send, transport, pool } = await setUp({
      isBlob: true,
      digestBlob: (blob) => {
        hashed.push(blob.size)
        return Promise.resolve(MD5)
      },
    })
    const result = send()
    const request = await transport.next()
    expect([request.request.body?.kind, hashed, pool.leasedBytes()]).toEqual(['blob', [500], 0])
    request.request.onSent?.(500)

    request.reply({ status: 200, headers: { etag: `"${MD5}"` } })

    expect(await result).toMatchObject({ kind: 'received', receipt: { md5: MD5, isVerified: true } })
  })

  it('is not received before the digest that is computed elsewhere has come', async () => {
    let give: (digest: string) => void = () => undefined
    const { send, transport } = await setUp({
      isBlob: true,
      digestBlob: () => new Promise((resolve) => (give = resolve)),
    })
    const result = send()
    const request = await transport.next()
    request.request.onSent?.(500)
    request.reply({ status: 200, headers: { etag: `"${'0'.repeat(32)}"` } })
    expect(await isSettled(result)).toBe(false)

    give(MD5)

    expect(await result).toMatchObject({ verdict: { kind: 'retry', error: { code: 'ERR_UPLOAD_DIGEST_MISMATCH' } } })
  })

  it('stops a digest that is computed elsewhere when nobody needs it any more', async () => {
    for (const end of ['refused', 'aborted'] as const) {
      let digestSignal: AbortSignal | undefined
      const { send, transport, controller } = await setUp({
        isBlob: true,
        digestBlob: (_blob, signal) => {
          digestSignal = signal
          return new Promise(() => undefined)
        },
      })
      const result = send()
      const request = await transport.next()
      expect(digestSignal?.aborted).toBe(false)

      if (end === 'aborted') controller.abort(new Error('paused'))
      else request.reply({ status: 503, headers: {} })

      expect((await result).kind).toBe(end)
      expect(digestSignal?.aborted).toBe(true)
    }
  })

  it('is tried again when what hashes elsewhere was lost, and fails when it cannot read the blob', async () => {
    for (const [code, isRetryable, kind] of [
      ['ERR_UPLOAD_INTERNAL', true, 'ours'],
      ['ERR_UPLOAD_SOURCE_READ', false, 'source'],
    ] as const) {
      const error = new UploadError(code, 'No digest.', { isRetryable })
      const { send, transport } = await setUp({ isBlob: true, digestBlob: () => Promise.reject(error) })
      const result = send()
      const request = await transport.next()
      request.request.onSent?.(500)
      request.reply({ status: 200, headers: { etag: '"x"' } })

      expect((await result).kind).toBe(kind)
    }
  })

  it('fails, and leaves no timer, when no request can be made for its address', async () => {
    const { send, clock, pool } = await setUp({
      request: () => {
        throw new UploadError('ERR_UPLOAD_INSECURE_URL', 'Plain HTTP.')
      },
    })

    expect(await send()).toMatchObject({
      kind: 'source',
      ending: 'neverWhole',
      error: { code: 'ERR_UPLOAD_INSECURE_URL' },
    })
    expect([clock.pending, pool.leasedBytes()]).toEqual([0, 0])
  })
})

describe('a short part, in one piece', () => {
  const isWhole = true

  it.each([true, 'whole'] as const)(
    'goes out with the MD5 of what was read, and keeps its window until the attempt has ended (hashed: %s)',
    async (isHashed) => {
      const { send, transport, pool } = await setUp({ isWhole, isHashed })
      const result = send()
      const request = await transport.next()
      const { body } = request.request

      expect([body?.kind, pool.leasedBytes()]).toEqual(['bytes', 64 * 1024])
      expect(Buffer.from(await request.bodyBytes())).toEqual(Buffer.from(BYTES))
      request.request.onSent?.(500)
      request.reply({ status: 200, headers: { etag: `"${MD5}"` } })

      expect(await result).toMatchObject({ kind: 'received', receipt: { md5: MD5, isVerified: true } })
      expect(pool.leasedBytes()).toBe(0)
    },
  )

  it('gives its window back when it is stopped before anybody asks for its digest', async () => {
    const { send, transport, controller, pool } = await setUp({ isWhole, isHashed: 'whole' })
    const result = send()
    await transport.next()
    controller.abort(new Error('Stopped.'))

    expect(await result).toMatchObject({ kind: 'aborted' })
    expect(pool.leasedBytes()).toBe(0)
  })

  const mismatch = 'is hashed as it was read: what changes in its memory on the way is a mismatch (hashed: %s)'
  it.each([true, 'whole'] as const)(mismatch, async (isHashed) => {
    const { send, transport } = await setUp({ isWhole, isHashed })
    const result = send()
    const { request, reply } = await transport.next()
    if (request.body?.kind !== 'bytes') throw new Error('It was not sent in one piece.')
    request.body.bytes.fill(7)
    const stored = createHash('md5').update(request.body.bytes).digest('hex')
    request.onSent?.(500)
    reply({ status: 200, headers: { etag: `"${stored}"` } })

    expect(await result).toMatchObject({
      kind: 'refused',
      verdict: { error: { code: 'ERR_UPLOAD_DIGEST_MISMATCH' } },
    })
  })

  it('goes through windows when it is longer than that, or when a rate is kept', async () => {
    for (const options of [{ bytes: fill(70_000, 1) }, { limitRate: '1KB' }]) {
      const { send, transport } = await setUp({ isWhole, ...options })
      void send()

      expect((await transport.next()).request.body?.kind).toBe('windows')
    }
  })

  it.each<[string, () => Promise<void>]>([
    ['rejects', () => Promise.reject(new Error('EIO'))],
    [
      'throws at once, as that of a host may',
      () => {
        throw new Error('EIO')
      },
    ],
  ])('makes no request when it cannot be read: the reader %s', async (_how, read) => {
    const { send, transport, source, clock, pool } = await setUp({ isWhole })
    const reader = await source.open({ sizeBytes: 500 })

    expect(await send({ ...reader, read })).toMatchObject({
      ...{ kind: 'source', ending: 'neverWhole' },
      error: { code: 'ERR_UPLOAD_SOURCE_READ', message: 'It could not be read: EIO' },
    })
    expect([transport.sent.length, clock.pending, pool.leasedBytes()]).toEqual([0, 0, 0])
  })

  it('is not judged while the disk keeps it waiting; then waits for a connection, and then for the line', async () => {
    for (const [isConnected, phase, afterMs] of [
      [false, 'connect', DEFAULT_TIMEOUTS.connectMs],
      [true, 'send', DEFAULT_TIMEOUTS.stallMs],
    ] as const) {
      const { send, transport, clock, sent } = await setUp({ isWhole, readMs: 3_600_000 })
      const result = send()
      await clock.advance(3_600_000)
      const { request } = await transport.next()
      if (isConnected) request.onSent?.(0)

      await clock.advance(afterMs - 1)
      expect(await isSettled(result)).toBe(false)
      await clock.advance(1)

      expect(await result).toMatchObject({ kind: 'missing', error: { code: 'ERR_UPLOAD_TIMEOUT', phase } })
      expect(sent).toEqual([])
    }
  })

  it('gives its window back only when the read under way has ended, and is not sent when it was aborted meanwhile', async () => {
    const { send, transport, controller, clock, pool } = await setUp({ isWhole, readMs: 5_000 })
    const result = send()
    await clock.advance(10)

    controller.abort(new Error('paused'))
    await clock.advance(4_989)
    expect([await isSettled(result), pool.leasedBytes()]).toEqual([false, 64 * 1024])
    await clock.advance(1)

    expect([(await result).kind, pool.leasedBytes(), transport.sent.length]).toEqual(['aborted', 0, 0])
  })
})

interface SetUpOptions {
  readonly bytes?: Uint8Array
  readonly end?: number
  /** `whole`: by a hasher that takes bodies of one piece. */
  readonly isHashed?: boolean | 'whole'
  readonly isBlob?: boolean
  readonly digestBlob?: NonNullable<Hasher['digestBlob']>
  readonly isPoolFull?: boolean
  /** Nothing can pass through us. Default false. */
  readonly hasNoBodies?: boolean
  /** Sends a short part in one piece, as Node does. Default false: through windows, so that they are tested. */
  readonly isWhole?: boolean
  readonly limitRate?: string
  readonly isProgressLive?: boolean
  readonly readMs?: number
  readonly request?: () => never
  readonly isExpired?: () => boolean
  /** It is what is left of a part. */
  readonly isRest?: boolean
  readonly hasQueue?: boolean
  readonly onAnswered?: () => void
  /** Opens the source, instead of the reader that is given. */
  readonly open?: () => Promise<Reader>
}

async function setUp(options: SetUpOptions = {}) {
  const { bytes = BYTES, readMs } = options
  const clock: SimulatedClock = createSimulatedClock()
  const transport = createScriptedTransport()
  const pool = windowBodies({
    ...{ clock, memoryBytes: 4 * 64 * 1024, concurrency: 2 },
    ...(options.isWhole === true ? { wholeBodies: wholeBodies() } : {}),
  })
  if (options.isPoolFull === true)
    for (const size of [100_000, 100_000]) await pool.lease(size, new AbortController().signal)
  const source = watchedSource('a.bin', bytes, {
    clock,
    ...(readMs === undefined ? {} : { readMs: () => readMs }),
    ...(options.isBlob === undefined ? {} : { isBlob: options.isBlob }),
  })
  const reader = await source.open({ sizeBytes: bytes.byteLength })
  const controller = new AbortController()
  const sent: number[] = []
  const grownBytes: number[] = []
  const { isProgressLive = true, hasQueue = false } = options
  const told = Object.assign(Object.create(transport) as Transport, { isProgressLive, hasQueue })
  const attempts: Attempt[] = []
  const protocol = testProtocol()
  const send = (given: Reader = reader): Promise<AttemptResult> => {
    const ports: SendPartPorts = {
      transport: told,
      clock,
      bodies: options.hasNoBodies === true ? undefined : pool,
      timeouts: DEFAULT_TIMEOUTS,
      pace: createPace(clock, options.limitRate ?? 'off'),
      hasher: hasherOf(options, clock),
      protocol: { ...protocol, ...(options.request === undefined ? {} : { request: options.request }) },
      readers: createReaderCache(options.open ?? (() => Promise.resolve(given))),
      isExpired: options.isExpired ?? (() => false),
      onSent({ sentBytes }, grown) {
        sent.push(sentBytes)
        grownBytes.push(grown)
      },
      onEnded: () => undefined,
    }
    const end = options.end ?? bytes.byteLength
    const attempt: Attempt = {
      unit: { fileIndex: 0, partNumber: 1, start: 0, end },
      lengthBytes: end,
      address: readAddress('https://store.test/0/1?g=1&X-Amz-Signature=5ec4e7'),
      isFreshConnection: false,
      isWhole: options.isRest !== true,
      controller,
      onAnswered: options.onAnswered,
      isSending: false,
      sentBytes: 0,
      isCrawled: false,
      hasTold: false,
      watchdog: undefined,
      lease: undefined,
      expiry: undefined,
      end: undefined,
    }
    attempts.push(attempt)
    return sendPart(ports, attempt)
  }
  /** Takes the whole body of the next request, then answers. */
  const answer = async (reply: {
    status: number
    hidesHeaders?: boolean
    headers?: Record<string, string>
  }): Promise<void> => {
    const request = await transport.next()
    await request.bodyBytes()
    request.request.onSent?.(bytes.byteLength)
    request.reply(reply)
  }
  return { send, answer, transport, clock, pool, source, controller, sent, grownBytes, attempts }
}

function hasherOf({ isHashed, digestBlob }: SetUpOptions, clock: SimulatedClock): Hasher | undefined {
  const hasher = slowHasher(clock, () => 0)
  if (digestBlob !== undefined) return { start: () => hasher.start(), digestBlob }
  if (isHashed === 'whole') return { start: () => expect.unreachable('It begins no hash.'), whole: digestOfCopy }
  return isHashed === true ? hasher : undefined
}

function digestOfCopy(bytes: Uint8Array): () => string {
  const copy = bytes.slice()
  return () => createHash('md5').update(copy).digest('hex')
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isOver = false
  const note = (): void => void (isOver = true)
  promise.then(note, note)
  await new Promise((resolve) => setImmediate(resolve))
  return isOver
}
