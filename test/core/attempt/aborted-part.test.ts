// One part, once, that is aborted.

import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { leave } from '../../../src/core/attempt/attempt.ts'
import { BYTES, setUp, isSettled } from './send-part-rig.ts'

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

  it('has given its windows back once and for all when it is left only because its source does not close', async () => {
    const { send, source, transport, controller, pool, attempts } = await setUp()
    const close = (): Promise<void> => new Promise(() => undefined)
    const result = send({ ...(await source.open({ sizeBytes: 500 })), close })
    await transport.next()
    controller.abort(new Error('paused'))
    expect(await isSettled(result)).toBe(false)

    leave(attempts[0]!)
    expect(pool.leasedBytes()).toBe(0)
  })
})
