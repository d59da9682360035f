// The body of one attempt: an async sequence of windows over a range of a reader. While one window is on the line the
// other is being filled. A window is filled again only after it was sent (the next one was asked for) and hashed.
// A transport may begin anew within an attempt, when a kept connection turned out to be dead; only its newest sequence
// then gets windows, and is hashed.

import type { Pace } from './pace.ts'
import type { BodyHash, Reader, Unit } from './ports.ts'
import type { Slicer } from './slices.ts'

export interface BodyOptions {
  readonly unit: Unit
  readonly reader: Reader
  /** One window when the unit fits into it, else two. */
  readonly windows: readonly Uint8Array[]
  /** Begins the hash of a sequence; undefined when nothing is hashed. */
  readonly startHash: (() => BodyHash) | undefined
  /** Leave to send. */
  readonly pace: Pick<Pace, 'pieceBytes'> & { take(bytes: number): Promise<void> | undefined }
  /** Cuts windows into what goes to the line at once; undefined: whole windows. */
  readonly slicer?: Slicer | undefined
  /** The body waits for the disk, the hash or for leave. */
  readonly onHold: () => void
  /** It waits for the line again: a window is about to be taken, or the last one was. */
  readonly onReady: () => void
}

export interface AttemptBody {
  windows(): AsyncIterable<Uint8Array>
  /** The hash of all windows, once they have all been taken; undefined when nothing is hashed. */
  digest(): Promise<string | undefined>
  /**
   * The attempt is over: a transport that still asks gets no more windows, and the hash is freed. Settles when no read
   * and no hash touches the windows any more.
   */
  end(): Promise<void>
  /** Why reading failed, when it did. */
  readError(): unknown
}

export function createBody(options: BodyOptions): AttemptBody {
  const { unit, reader, windows, startHash, slicer, pace, onHold, onReady } = options
  const busy = new Set<Promise<unknown>>()
  let newest = 0
  let isOver = false
  let hash: BodyHash | undefined
  let readError: unknown

  /** Remembers what touches the windows until it has ended, also when nobody waits for it any more. */
  const watch = <T>(work: Promise<T>): Promise<T> => {
    busy.add(work)
    const forget = (): boolean => busy.delete(work)
    work.then(forget, forget)
    return work
  }
  const idle = async (): Promise<void> => {
    while (busy.size > 0) await Promise.allSettled(busy)
  }
  const fill = (window: Uint8Array, at: number): Promise<Uint8Array> => {
    const piece = window.subarray(0, Math.min(window.byteLength, unit.end - at))
    const filled = reader.read(piece, at).then(
      () => piece,
      (error: unknown) => {
        readError ??= error
        throw error
      },
    )
    return watch(filled)
  }

  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    const [first, second = first] = windows
    const sequence = ++newest
    const isStale = (): boolean => isOver || sequence !== newest
    // An empty file is sent as one empty part.
    if (first === undefined || second === undefined || unit.end <= unit.start) return
    let [current, other] = [first, second]
    let at = unit.start
    onHold()
    if (busy.size > 0) await idle()
    if (isStale()) return
    hash?.dispose?.()
    hash = startHash?.()
    let filling = fill(current, at)
    while (at < unit.end) {
      const piece = await filling
      if (isStale()) return
      at += piece.byteLength
      if (at < unit.end) filling = fill(other, at)
      const hashing = hash?.update(piece)
      const hashed = hashing === undefined ? undefined : watch(hashing)
      for (let from = 0; from < piece.byteLength;) {
        const most = Math.min(slicer?.size() ?? piece.byteLength, pace.pieceBytes())
        const slice = piece.subarray(from, from + most)
        from += slice.byteLength
        const leave = pace.take(slice.byteLength)
        if (leave !== undefined) await leave
        if (isStale()) return
        onReady()
        slicer?.began()
        yield slice
        slicer?.ended()
        onHold()
      }
      if (hashed !== undefined) await hashed
      if (isStale()) return
      ;[current, other] = [other, current]
    }
    onReady()
  }

  return {
    windows: pieces,
    async digest() {
      if (busy.size > 0) await idle()
      // An empty body has no window, and its hash begins here.
      hash ??= startHash?.()
      return hash?.digest()
    },
    async end() {
      isOver = true
      if (busy.size > 0) await idle()
      hash?.dispose?.()
    },
    readError: () => readError,
  }
}
