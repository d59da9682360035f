// A body whose pieces are pushed into undici. It has the shape of a stream because undici takes pieces without a promise for
// each from streams only; of a stream it has just what undici 7 asks for.

import { EventEmitter } from 'node:events'

export class PushedBody extends EventEmitter {
  readonly #onWanted: () => void
  #isWanted = false

  /** `onWanted` is called once, when undici listens. */
  constructor(onWanted: () => void) {
    super()
    this.#onWanted = onWanted
  }

  /** undici writes the piece at once, and its request's head before the first. */
  push(piece: Uint8Array): void {
    this.emit('data', piece)
  }

  /** The body is complete. */
  end(): void {
    this.emit('end')
  }

  /** Called when undici has begun to listen, and whenever the socket has room: how much it holds is not undici's to decide. */
  resume(): this {
    if (this.#isWanted) return this
    this.#isWanted = true
    // undici is still about to listen to the socket.
    queueMicrotask(this.#onWanted)
    return this
  }

  /** By this undici knows a stream; it never calls it. */
  pipe(): never {
    throw new Error('A body under way has one reader.')
  }

  /** Whoever owns the source lets go of it. */
  destroy(): this {
    return this
  }
}
