// One part and its source: read through windows, sent as a blob, hashed elsewhere.

import { describe, expect, it } from 'vitest'
import { TransportError, UploadError } from '../../../src/core/errors.ts'
import type { Reader } from '../../../src/core/ports.ts'
import { BYTES, MD5, setUp, isSettled } from './send-part-rig.ts'

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

  it('fails for a source that gives no blob, with a code also when the reader is not ours', async () => {
    const { send, source } = await setUp({ isBlob: true })
    const blob = (): never => {
      throw new Error('EIO')
    }

    expect(await send({ ...(await source.open({ sizeBytes: 500 })), blob })).toMatchObject({
      ...{ kind: 'source', ending: 'neverWhole' },
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

  it('fails by its source, not by the host, where that is opened over a network of its own', async () => {
    const away = new TransportError('ERR_UPLOAD_NETWORK', 'No share.', { ending: 'neverWhole', phase: 'connect' })
    const { send } = await setUp({ open: () => Promise.reject(away) })

    expect(await send()).toEqual({ kind: 'source', ending: 'neverWhole', error: away })
  })

  it('gives its slot back as one that waits for its source, not as one that was answered, when that hangs', async () => {
    const { send, clock, controller, freed } = await setUp({ open: () => new Promise(() => undefined) })
    const result = send()
    await clock.advance(6_000)
    expect(freed).toEqual([false])

    controller.abort(new Error('stopped'))
    expect((await result).kind).toBe('aborted')
  })

  it('goes out as a blob, without windows, where nothing needs to see the bytes', async () => {
    const { send, transport, pool, controller } = await setUp({ isBlob: true })
    const result = send()
    const request = await transport.next()

    expect([request.request.body?.kind, pool.leasedBytes()]).toEqual(['blob', 0])
    expect(Buffer.from(await request.bodyBytes())).toEqual(Buffer.from(BYTES))
    request.request.onSent?.(500)
    request.reply({ status: 200, headers: { etag: '"x"' } })
    expect([(await result).kind, controller.signal.aborted]).toEqual(['received', false])
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

  it('ends with the error of what hashes elsewhere, which says whether it may pass', async () => {
    for (const [code, isRetryable] of [
      ['ERR_UPLOAD_INTERNAL', true],
      ['ERR_UPLOAD_SOURCE_READ', false],
    ] as const) {
      const error = new UploadError(code, 'No digest.', { isRetryable })
      const { send, transport } = await setUp({ isBlob: true, digestBlob: () => Promise.reject(error) })
      const result = send()
      const request = await transport.next()
      request.request.onSent?.(500)
      request.reply({ status: 200, headers: { etag: '"x"' } })

      expect(await result).toMatchObject({ kind: 'source', error })
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
