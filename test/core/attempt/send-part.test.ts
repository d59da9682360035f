// One part, once, that is answered: what came of it, and that nothing of it is left.

import { describe, expect, it } from 'vitest'
import type { AttemptResult } from '../../../src/core/attempt/attempt.ts'
import { BYTES, MD5, setUp, isSettled } from './send-part-rig.ts'

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
    for (const [isBlob, status, said] of [
      [true, 200, [true]],
      [true, 503, []],
      [false, 200, []],
    ] as const) {
      const { send, answer, freed } = await setUp({ isBlob })
      const result = send()
      expect(freed).toEqual([])

      await answer({ status, headers: { etag: '"x"' } })

      await result
      expect(freed).toEqual(said)
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
