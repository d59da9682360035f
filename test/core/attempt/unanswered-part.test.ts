// One part, once, that is not answered.

import { describe, expect, it } from 'vitest'
import { TransportError } from '../../../src/core/errors.ts'
import { fill } from '../../simulation/world.ts'
import { BYTES, setUp, isSettled } from './send-part-rig.ts'

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

    // To connect, to send and to be answered.
    await clock.advance(134_000)
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
