// One exchange over a client that does what it is told: which end of an attempt is which, and when a connection may be used again.

import { describe, expect, it, vi } from 'vitest'

import type { Connection } from '../../../../src/adapters/node/http/connection-pool.ts'
import { exchange } from '../../../../src/adapters/node/http/exchange.ts'
import type { PushedBody } from '../../../../src/adapters/node/http/pushed-body.ts'
import type { Wire } from '../../../../src/adapters/node/http/wire.ts'
import { TransportError } from '../../../../src/core/errors.ts'
import type { TransportRequest } from '../../../../src/core/ports.ts'

const SHORT: TransportRequest['body'] = { kind: 'bytes', bytes: new Uint8Array(10) }

describe('an abort', () => {
  it('that came before sends nothing', async () => {
    const { start, dispatch } = setUp()

    expect(await start({ signal: AbortSignal.abort() })).toEqual({ kind: 'aborted', ending: 'neverWhole' })
    expect(dispatch).not.toHaveBeenCalled()
  })

  it.each([
    ['before anything was written', false, false, 'neverWhole'],
    ['while some of it is unsent', true, true, 'neverWhole'],
    ['when all of it is gone', true, false, 'doubtful'],
  ] as const)('%s leaves a request without a body as it is', async (_when, isConnected, isUnsent, ending) => {
    const { start, handler, wire, controller } = setUp()
    const result = start({})
    if (isConnected) handler().onConnect()
    wire.isUnsent = isUnsent
    controller.abort(new Error('paused'))

    expect(await result).toEqual({ kind: 'aborted', ending })
  })

  it('is one, though the answer has begun; only the end of a wait makes an answer of its head', async () => {
    for (const [reason, kind] of [
      [new Error('paused'), 'aborted'],
      [new TransportError('ERR_UPLOAD_TIMEOUT', 'late', { phase: 'answer', ending: 'doubtful' }), 'answered'],
    ] as const) {
      const { start, handler, controller } = setUp()
      const result = start({})
      handler().onConnect()
      handler().onHeaders(200, [])
      controller.abort(reason)

      expect(await result).toMatchObject({ kind })
    }
  })

  it('lets go of what gives the body', async () => {
    const { start, handler, dispatched, controller } = setUp()
    const letGo = vi.fn(() => Promise.resolve({ done: true }))
    const pieces = { next: () => new Promise(() => undefined), return: letGo }
    const blob = { stream: () => ({ [Symbol.asyncIterator]: () => pieces }) } as unknown as Blob
    const result = start({ body: { kind: 'blob', blob, lengthBytes: 10 } })
    handler().onConnect()
    ;(dispatched().body as PushedBody).resume()
    await Promise.resolve()
    controller.abort(new Error('paused'))

    expect(await result).toMatchObject({ kind: 'aborted' })
    expect(letGo).toHaveBeenCalledOnce()
  })
})

describe('a connection', () => {
  it.each([
    ['all was sent and all was read', true, false, true],
    ['the body was not given out', false, false, false],
    ['some of it is still in the socket', true, true, false],
  ])('may be used again or not, where %s', async (_where, isGiven, isUnsent, isReusable) => {
    const { start, handler, wire } = setUp()
    const result = start({ body: SHORT })
    if (isGiven) handler().onConnect()
    wire.isUnsent = isUnsent
    handler().onHeaders(200, [])
    handler().onComplete()

    expect(await result).toMatchObject({ kind: 'answered', isReusable })
  })
})

interface Handler {
  onConnect(): void
  onHeaders(status: number, rawHeaders: readonly Buffer[]): void
  onComplete(): void
}

function setUp() {
  const wire = {
    isUnsent: false,
    socket: { destroyed: false },
    hasUnsentBytes: () => wire.isUnsent,
    begin: () => undefined,
    whenFlushed: () => false,
  }
  const dispatch = vi.fn<(options: { readonly body: unknown }, handler: Handler) => boolean>(() => true)
  const connection = { client: { dispatch }, wire: wire as unknown as Wire, isReused: false } as unknown as Connection
  const controller = new AbortController()
  const start = (request: Partial<TransportRequest>) =>
    exchange(connection, '/', {
      ...{ method: 'PUT', url: 'http://storage.example/', headers: {}, signal: controller.signal },
      ...request,
    })
  return {
    ...{ start, dispatch, wire, controller },
    dispatched: () => dispatch.mock.calls[0]![0],
    handler: () => dispatch.mock.calls[0]![1],
  }
}
