// The body of one attempt: sequences of windows over a range of a reader, their hash, and whatever still touches the windows. A
// transport may begin anew within an attempt, when a kept connection turned out to be dead; then only its newest sequence gets
// windows and is hashed.

import type { BodyHash, Hasher, PieceSequence, Reader } from '../ports.ts'
import { createSequence, type SequenceOptions } from './window-sequence.ts'

export interface BodyOptions extends SequenceOptions {
  readonly reader: Pick<Reader, 'read'>
  /** Hashes a sequence; undefined: nothing is hashed. */
  readonly hasher: Hasher | undefined
}

export interface AttemptBody {
  windows(): PieceSequence
  /** The hash of all windows, once all have been taken; undefined when nothing is hashed. */
  digest(): Promise<string | undefined>
  /**
   * Ends the body: a transport that still asks gets no more windows, and the hash is freed. Resolves when no read and no hash
   * touches the windows any more.
   */
  end(): Promise<void>
}

export function createBody(options: BodyOptions): AttemptBody {
  const { unit, reader, hasher } = options
  const busy = new Set<Promise<unknown>>()
  let newest = 0
  let isOver = false
  let hash: BodyHash | undefined

  /** Tracks what touches the windows until it has ended, even when nobody waits for it any more. */
  const watch = <T>(work: Promise<T>): Promise<T> => {
    busy.add(work)
    const forget = (): boolean => busy.delete(work)
    work.then(forget, forget)
    return work
  }
  const idle = async (): Promise<void> => {
    while (busy.size > 0) await Promise.allSettled(busy)
  }
  const fill = (window: Uint8Array, at: number): Promise<void> | undefined => {
    const reading = reader.read(window, at)
    return reading && watch(reading)
  }
  const begin = (): Promise<void> | undefined => {
    if (busy.size > 0) return idle()
    hash?.dispose?.()
    hash = hasher?.start(unit.end - unit.start)
    return undefined
  }
  const update = (piece: Uint8Array): Promise<void> | undefined => {
    const work = hash?.update(piece)
    return work ? watch(Promise.resolve(work)) : undefined
  }

  return {
    windows() {
      const sequence = ++newest
      const isStale = (): boolean => isOver || sequence !== newest
      return createSequence(options, { isStale, fill, begin, update })
    },
    async digest() {
      if (busy.size > 0) await idle()
      // An empty body has no window, so its hash begins here.
      hash ??= hasher?.start()
      return hash?.digest()
    },
    async end() {
      isOver = true
      if (busy.size > 0) await idle()
      hash?.dispose?.()
    },
  }
}
