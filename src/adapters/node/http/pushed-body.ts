// A body whose pieces are pushed into undici. It looks like a stream, because only from streams does undici take pieces
// without a promise for each. It has just what undici 7 asks of a stream.

import { EventEmitter } from 'node:events'

export class PushedBody extends EventEmitter {
  /**
   * undici recognises a stream by this method, and never calls it. It is there only once undici writes. Until then the body
   * passes for an iterable: of a stream undici's Request would hear the errors, by a function that it assigns to a property.
   * V8's parser takes such functions for methods and lets them be allocated in the old generation, where each would keep its
   * ended attempt until the next full collection.
   */
  pipe: (() => never) | undefined = undefined
  readonly #onWanted: () => void
  #isWanted = false

  /** `onWanted` is called once, when undici listens. */
  constructor(onWanted: () => void) {
    super()
    this.#onWanted = onWanted
  }

  /** undici is about to write. */
  started(): void {
    this.pipe = misused
  }

  /** undici recognises an iterable by this method. It never calls it. */
  [Symbol.asyncIterator](): never {
    return misused()
  }

  /** undici writes the piece at once, and the head of the request before the first piece. */
  push(piece: Uint8Array): void {
    this.emit('data', piece)
  }

  /** The body is complete. */
  end(): void {
    this.emit('end')
  }

  /**
   * undici calls this when it has begun to listen, and whenever the socket has room. Only the first call counts,
   * because how much the socket holds is not for undici to decide.
   */
  resume(): this {
    if (this.#isWanted) return this
    this.#isWanted = true
    // At this moment undici does not listen to the socket yet.
    queueMicrotask(this.#onWanted)
    return this
  }

  /** Whoever owns the source lets go of it. */
  destroy(): this {
    return this
  }
}

function misused(): never {
  throw new Error('A body under way has one reader.')
}
