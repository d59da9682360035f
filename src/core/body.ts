// The body of one attempt: an async sequence of windows over a range of a reader. While one window is on the line the
// other is being filled. A window is filled again only after it was sent (the next one was asked for) and hashed.

import type { BodyHash, Reader, Unit } from './ports.ts'

export interface BodyOptions {
  readonly unit: Unit
  readonly reader: Reader
  /** One window when the unit fits into it, else two. */
  readonly windows: readonly Uint8Array[]
  readonly hash: BodyHash | undefined
  /** Waits for leave to send so many bytes; undefined when there is no limit. */
  readonly pace: ((bytes: number) => Promise<void> | undefined) | undefined
  /** The body waits for the disk or for leave. */
  onHold(): void
  /** A window is about to be taken. */
  onReady(): void
}

export interface AttemptBody {
  windows(): AsyncIterable<Uint8Array>
  /** Settles when no read or hash touches the windows any more. */
  idle(): Promise<void>
  /** Why reading failed, when it did. */
  readError(): unknown
}

export function createBody({ unit, reader, windows, hash, pace, onHold, onReady }: BodyOptions): AttemptBody {
  let busy: Promise<unknown> = Promise.resolve()
  let readError: unknown

  const fill = (window: Uint8Array, at: number): Promise<Uint8Array> => {
    const piece = window.subarray(0, Math.min(window.byteLength, unit.end - at))
    const filled = reader.read(piece, at).then(
      () => piece,
      (error: unknown) => {
        readError ??= error
        throw error
      },
    )
    busy = Promise.allSettled([busy, filled])
    return filled
  }

  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    const [first, second = first] = windows
    if (first === undefined || second === undefined) return
    let [current, other] = [first, second]
    let at = unit.start
    let filling = fill(current, at)
    while (at < unit.end) {
      onHold()
      const piece = await filling
      at += piece.byteLength
      if (at < unit.end) filling = fill(other, at)
      const hashed = hash?.update(piece)
      const leave = pace?.(piece.byteLength)
      if (leave !== undefined) await leave
      onReady()
      yield piece
      if (hashed !== undefined) {
        busy = Promise.allSettled([busy, hashed])
        await hashed
      }
      ;[current, other] = [other, current]
    }
  }

  return {
    windows: () => (unit.end > unit.start ? pieces() : nothing()),
    idle: async () => {
      await busy
    },
    readError: () => readError,
  }
}

// eslint-disable-next-line @typescript-eslint/require-await -- An empty body is still an async sequence.
async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {
  // An empty file is sent as one empty part.
}
