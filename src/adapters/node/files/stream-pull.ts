// One way to pull bytes out of a Node stream, a web stream or any async sequence, and to stop it at any moment.

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

import { UploadError } from '../../../core/errors.ts'

/** A Node Readable, a web ReadableStream or an async sequence. Its pieces are bytes, or whole characters of text, sent as UTF-8. */
export type StreamInput = AsyncIterable<Uint8Array | string> | ReadableStream<Uint8Array | string>

export interface StreamPull {
  /** Whether something was read of the stream before. Not known of an async sequence. */
  readonly wasRead: boolean
  /**
   * The next piece, or undefined at the end. It is the caller's until the next pull. Rejects with
   * ERR_UPLOAD_SOURCE_READ.
   */
  pull(): Promise<Uint8Array | undefined>
  /**
   * Ends the stream, even while a pull waits, and returns at once. The request of a server that has yet to answer it is
   * not ended, since that would end its connection. What still arrives of it is thrown away instead. Idempotent.
   */
  stop(): void
}

interface Pulling {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>
  stop(): void
}

/** Takes charge of the stream: from here on its errors come out of `pull` and nowhere else. Pulls nothing yet. */
export function pullFrom(stream: StreamInput, name: string): StreamPull {
  const isNode = isNodeStream(stream)
  // Without a listener, an error before the first pull would end the process. The first pull reports it.
  if (isNode) stream.on('error', () => undefined)
  let pulling: Pulling | undefined

  return {
    wasRead: Readable.isDisturbed(stream as Readable),
    async pull() {
      let piece: unknown
      try {
        pulling ??= begin(stream)
        const { done, value } = await pulling.next()
        if (done === true) return undefined
        piece = value
      } catch (cause) {
        throw new UploadError('ERR_UPLOAD_SOURCE_READ', `The stream "${name}" failed before its end.`, {
          cause,
          details: { location: name },
        })
      }
      return toBytes(piece, name)
    },
    stop() {
      if (isRequest(stream)) {
        // Behind a pull that waits: until that is over, nothing can flow.
        if (pulling === undefined) stream.resume()
        else pulling.stop()
      } else if (isNode) stream.destroy()
      else if ('getReader' in stream) {
        // In the next turn, because a stream from `Readable.toWeb` throws where nobody can catch it, and so ends the
        // process, if it is cancelled between a read and the turn in which its Node stream heeds that. A pull may begin
        // until then, and then only its reader can cancel.
        setImmediate(() => {
          if (pulling === undefined) stream.cancel().catch(() => undefined)
          else pulling.stop()
        })
      } else pulling?.stop()
    },
  }
}

function begin(stream: StreamInput): Pulling {
  if ('getReader' in stream) {
    // The iterator of a web stream queues its end behind a read that waits. A reader can be cancelled at once.
    const reader = stream.getReader()
    return { next: () => reader.read(), stop: () => void reader.cancel().catch(() => undefined) }
  }
  if (isRequest(stream)) {
    const iterator = stream.iterator({ destroyOnReturn: false })
    const flow = (): unknown => stream.resume()
    return { next: () => iterator.next(), stop: () => void iterator.return?.().then(flow, flow) }
  }
  const iterator = stream[Symbol.asyncIterator]()
  return {
    next: () => iterator.next(),
    stop: () => void iterator.return?.().catch(() => undefined),
  }
}

function toBytes(piece: unknown, name: string): Uint8Array {
  if (piece instanceof Uint8Array) return piece
  const isText = typeof piece === 'string'
  // Half a character has no bytes of its own: a replacement would be stored for each half of one cut in two between pieces.
  if (isText && !/\p{Surrogate}/u.test(piece)) return Buffer.from(piece, 'utf8')
  const what = isText ? 'text with half a character' : 'a piece that is neither bytes nor text'
  throw new UploadError(
    'ERR_UPLOAD_SOURCE_READ',
    `The stream "${name}" gave ${what}. Pass a stream of Uint8Array, Buffer or string.`,
    { details: { location: name } },
  )
}

interface NodeStream {
  on(event: 'error', listener: () => void): unknown
  destroy(): unknown
}

/** True for an HTTP/1 or HTTP/2 request that a server received. The answer that a client gets has no method. */
function isRequest(stream: StreamInput): stream is StreamInput & IncomingMessage {
  return 'method' in stream && typeof stream.method === 'string' && 'iterator' in stream
}

/** By shape and not by class, because streams of other copies of the stream library count, too. */
function isNodeStream(stream: StreamInput): stream is StreamInput & NodeStream {
  const shape = stream as Partial<NodeStream>
  return typeof shape.on === 'function' && typeof shape.destroy === 'function'
}
