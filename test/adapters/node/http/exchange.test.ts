// One exchange over a client that does what it is told: which end of an attempt is which, and when a connection may be used again.

import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'

import type { Connection } from '../../../../src/adapters/node/http/connection-pool.ts'
import { exchange } from '../../../../src/adapters/node/http/exchange.ts'
import type { PushedBody } from '../../../../src/adapters/node/http/pushed-body.ts'
import type { Wire } from '../../../../src/adapters/node/http/wire.ts'
import { TransportError } from '../../../../src/core/errors.ts'
import type { PieceSequence, TransportRequest } from '../../../../src/core/ports.ts'

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
      // The engine may come with another copy of the package.
      [
        Object.assign(new Error('late'), { code: 'ERR_UPLOAD_TIMEOUT', phase: 'answer', ending: 'doubtful' }),
        'answered',
      ],
    ] as const) {
      const { start, handler, controller } = setUp()
      const result = start({})
      handler().onConnect()
      handler().onHeaders(200, [])
      controller.abort(reason)

      const answered = { kind, isReusable: false, reply: { status: 200, isBodyCut: true } }
      expect(await result).toMatchObject(kind === 'answered' ? answered : { kind, ending: 'doubtful' })
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    }
  })

  it.each([
    ['is to give more', 20, 'nothing', { kind: 'aborted', ending: 'neverWhole' }],
    ['is waited for behind the head of an answer', 10, 'a head', { kind: 'answered', isReusable: false }],
    ['is waited for behind a whole answer', 10, 'an answer', { kind: 'aborted', ending: 'doubtful' }],
  ] as const)('ends the wait for a source that %s', async (_what, lengthBytes, come, expected) => {
    const { sendPiece, handler, controller } = setUp()
    const result = sendPiece(lengthBytes, new Promise(() => undefined))
    await Promise.resolve()
    if (come !== 'nothing') handler().onHeaders(200, [])
    if (come === 'an answer') handler().onComplete()
    controller.abort(new TransportError('ERR_UPLOAD_TIMEOUT', 'late', { phase: 'answer', ending: 'doubtful' }))

    expect(await result).toMatchObject(expected)
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

describe('a request', () => {
  it('goes out with what it was given, but for what the transport says itself', () => {
    const headers = { Host: 'evil.example', 'Content-Length': '9', CONNECTION: 'close', 'X-Name': 'one' }
    for (const [body, length] of [
      [SHORT, ['content-length', '10']],
      [{ kind: 'bytes', bytes: new Uint8Array(1) }, ['content-length', '1']],
      [undefined, []],
    ] as const) {
      const { start, dispatched } = setUp()
      void start(body === undefined ? { headers } : { headers, body })

      expect(dispatched().headers).toEqual(['X-Name', 'one', ...length])
    }
  })

  it('that finds its connection ended before a byte was written may begin anew, if that was not its first use', async () => {
    for (const isReused of [false, true]) {
      for (const isStarted of [false, true]) {
        const { start, handler } = setUp({ isReused })
        const result = start({})
        if (isStarted) handler().onConnect()
        const error = new Error('ECONNRESET')
        handler().onError(error)

        const ending = isStarted ? 'doubtful' : 'neverWhole'
        expect(await result).toEqual({ kind: 'failed', error, ending, isStale: isReused && !isStarted })
      }
    }
  })
})

describe('an answer', () => {
  it.each([
    [undefined, 65_536],
    [10, 10],
  ])('is kept as far as was asked for: %s', async (maxReplyBytes, keptBytes) => {
    const { start, handler } = setUp()
    const result = start(maxReplyBytes === undefined ? {} : { maxReplyBytes })
    handler().onConnect()
    handler().onHeaders(200, [])
    handler().onData(Buffer.alloc(70_000))
    handler().onComplete()

    const answered = await result
    expect(answered).toMatchObject({ kind: 'answered', isReusable: true, reply: { isBodyCut: true } })
    expect(answered.kind === 'answered' && answered.reply.body.byteLength).toBe(keptBytes)
  })

  it('waits for its own source, which may find at its end that it was not what it gave', async () => {
    const problem = new Error('the file has changed')
    for (const [end, expected] of [
      [() => Promise.resolve(), { kind: 'answered', isReusable: true }],
      [() => Promise.reject(problem), { kind: 'sourceFailed', error: problem, ending: 'doubtful' }],
    ] as const) {
      const { sendPiece, handler } = setUp()
      const result = sendPiece(10, end())
      await Promise.resolve()
      handler().onHeaders(200, [])
      handler().onComplete()

      expect(await result).toMatchObject(expected)
    }
  })

  it.each(['is longer than is worth to be read', 'breaks off'])(
    'that %s is one, on a connection that is used no more',
    async (how) => {
      const { start, handler } = setUp()
      const result = start({})
      handler().onConnect()
      handler().onHeaders(200, [])
      if (how === 'breaks off') handler().onError(new Error('ECONNRESET'))
      else handler().onData(Buffer.alloc(1_000_000))

      expect(await result).toMatchObject({ kind: 'answered', isReusable: false, reply: { isBodyCut: true } })
    },
  )
})

interface Handler {
  onConnect(): void
  onHeaders(status: number, rawHeaders: readonly Buffer[]): void
  onData(chunk: Buffer): void
  onComplete(): void
  onError(error: Error): void
}

function setUp({ isReused = false } = {}) {
  const wire = {
    isUnsent: false,
    socket: { destroyed: false },
    hasUnsentBytes: () => wire.isUnsent,
    begin: () => undefined,
    whenFlushed: () => false,
  }
  const dispatch = vi.fn<(options: { readonly body: unknown; readonly headers: unknown }, handler: Handler) => boolean>(
    () => true,
  )
  const connection = { client: { dispatch }, wire: wire as unknown as Wire, isReused } as unknown as Connection
  const controller = new AbortController()
  const start = (request: Partial<TransportRequest>) =>
    exchange(connection, '/', {
      ...{ method: 'PUT', url: 'http://storage.example/', headers: {}, signal: controller.signal },
      ...request,
    })
  const dispatched = () => dispatch.mock.calls[0]![0]
  const handler = () => dispatch.mock.calls[0]![1]
  /** Sends ten bytes of a body, and then waits for `end`. */
  const sendPiece = (lengthBytes: number, end: Promise<void>) => {
    const steps = [{ value: new Uint8Array(10), done: false }, end]
    const step = () => steps.shift() ?? { value: undefined, done: true }
    const windows = () => ({ step }) as unknown as PieceSequence
    const result = start({ body: { kind: 'windows', lengthBytes, windows } })
    handler().onConnect()
    ;(dispatched().body as PushedBody).resume()
    return result
  }
  return { start, dispatch, wire, controller, dispatched, handler, sendPiece }
}
