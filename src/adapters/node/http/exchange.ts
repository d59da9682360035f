// One request and its answer on one connection. The answer, the abort or the failure decides, whichever comes first.
// What was read of an answer takes precedence over a broken pipe.

import type { Dispatcher } from 'undici'
import { isTransportError, type AttemptEnding } from '../../../core/errors.ts'
import { onAbort } from '../../../core/on-abort.ts'
import type { TransportReply, TransportRequest } from '../../../core/ports.ts'
import type { Connection } from './connection-pool.ts'
import { createOutgoingBody, type OutgoingBody } from './outgoing-body.ts'
import { createReplyReader } from './reply-reader.ts'

/** What became of an exchange. `isStale`: the connection had ended before any byte of this request was written. */
export type ExchangeResult =
  | { readonly kind: 'answered'; readonly reply: TransportReply; readonly isReusable: boolean }
  | { readonly kind: 'failed'; readonly error: unknown; readonly ending: AttemptEnding; readonly isStale: boolean }
  | { readonly kind: 'sourceFailed'; readonly error: unknown; readonly ending: AttemptEnding }
  | { readonly kind: 'aborted'; readonly ending: AttemptEnding }

/**
 * The callbacks that undici 7 itself calls. It calls those of its types through a wrapper, which parses every head into
 * an object that nobody here wants. Returning false would pause the answer.
 */
interface RawHandler {
  onConnect(): void
  onHeaders(status: number, rawHeaders: readonly Buffer[]): true
  onData(chunk: Buffer): true
  onComplete(): void
  onError(error: Error): void
}

/** Headers that the transport sets itself. The caller's are left out. */
const ownHeaders = new Set(['host', 'connection', 'content-length'])
const DEFAULT_MAX_REPLY_BYTES = 65_536

/**
 * Runs one exchange. Rejects only if the request is not what its type says, before anything has gone. Unless the result
 * is answered and reusable, the connection must be discarded at once, which resets it.
 */
export function exchange(connection: Connection, path: string, request: TransportRequest): Promise<ExchangeResult> {
  const { client, wire } = connection
  const { signal } = request
  const reader = createReplyReader(request.maxReplyBytes ?? DEFAULT_MAX_REPLY_BYTES)
  let isStarted = false
  let isWholeAnswer = false

  return new Promise((resolve) => {
    const settle = (result: ExchangeResult) => {
      leave()
      body.stop()
      resolve(result)
    }
    const ending = (): AttemptEnding =>
      isStarted && body.isHandedOver() && !wire.hasUnsentBytes() ? 'doubtful' : 'neverWhole'
    const aborted = () => {
      // A wait is over, and the head is there: an answer whose body does not end is as good as one whose body broke
      // off. If the answer is whole, then our own source was waited for, and nothing says that what it gave is right.
      const reply = isTransportError(signal.reason) && !isWholeAnswer ? reader.reply(false) : undefined
      if (reply) answer(reply, false)
      else settle({ kind: 'aborted', ending: ending() })
    }
    const body: OutgoingBody = createOutgoingBody(request.body, wire, {
      onSent: request.onSent,
      onFailure: (error) => settle({ kind: 'sourceFailed', error, ending: ending() }),
    })
    const answer = (reply: TransportReply, isWhole: boolean) => {
      // After an early answer the socket still holds a piece whose memory is about to be refilled.
      isWholeAnswer = isWhole
      const isReusable = isWhole && body.isHandedOver() && !wire.hasUnsentBytes()
      const ended = isReusable ? body.ended() : undefined
      if (ended === undefined) {
        settle({ kind: 'answered', reply, isReusable })
        return
      }
      // A source that fails settles this itself.
      ended.then(
        () => settle({ kind: 'answered', reply, isReusable }),
        () => undefined,
      )
    }

    const options = dispatchOptions(path, request, body)
    let leave: () => void = () => undefined
    if (signal.aborted) {
      aborted()
      return
    }
    leave = onAbort(signal, aborted)
    const handler: RawHandler = {
      onConnect: () => {
        isStarted = true
        wire.begin()
        body.started()
      },
      onHeaders: (status, rawHeaders) => {
        reader.onHead(status, rawHeaders)
        return true
      },
      onData: (chunk) => {
        if (reader.onData(chunk)) return true
        const reply = reader.reply(false)
        if (reply) answer(reply, false)
        return true
      },
      onComplete: () => {
        const reply = reader.reply(true)
        if (reply) answer(reply, true)
      },
      onError: (error) => {
        const reply = reader.reply(false)
        if (reply) answer(reply, false)
        else settle({ kind: 'failed', error, ending: ending(), isStale: connection.isReused && !isStarted })
      },
    }
    client.dispatch(options, handler)
  })
}

function dispatchOptions(path: string, request: TransportRequest, body: OutgoingBody): Dispatcher.DispatchOptions {
  const headers: string[] = []
  for (const [name, value] of Object.entries(request.headers)) {
    if (!ownHeaders.has(name.toLowerCase())) headers.push(name, value)
  }
  if (body.lengthBytes > 0) headers.push('content-length', String(body.lengthBytes))
  return {
    path,
    method: request.method,
    headers,
    // undici 7 needs less of a stream than its types say. Without bytes it writes `content-length: 0` itself.
    body: body.content as unknown as Uint8Array | null,
  }
}
