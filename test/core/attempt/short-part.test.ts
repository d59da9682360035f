// A short part, which is read, hashed and sent in one piece.

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DEFAULT_TIMEOUTS } from '../../../src/core/attempt/watchdog.ts'
import { fill } from '../../simulation/world.ts'
import { BYTES, MD5, setUp, isSettled } from './send-part-rig.ts'

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
