// The body of one attempt at a short part: read as a whole into one window, hashed there and sent in one piece. Most of what
// a sequence of windows costs (its steps, its slices, its waits) is the same for twenty kilobytes as for megabytes.

import type { AttemptBody, BodyOptions } from './body.ts'
import { invariant } from './errors.ts'
import type { BodyHash } from './ports.ts'

export interface WholeBody extends Omit<AttemptBody, 'windows'> {
  /**
   * All bytes of the part, once they are there and may go; they stay as they are until the attempt has ended. Rejects as the
   * reader does. Called once.
   */
  bytes(): Promise<Uint8Array>
}

export type WholeBodyOptions = Pick<BodyOptions, 'unit' | 'reader' | 'startHash' | 'onReady'> & {
  /** Memory for all of it. */
  readonly window: Uint8Array
  readonly pace: Pick<BodyOptions['pace'], 'take'>
}

/** What of the body waits for the disk or for leave is over when `onReady` is called. */
export function createWholeBody({ unit, reader, startHash, onReady, window, pace }: WholeBodyOptions): WholeBody {
  const lengthBytes = unit.end - unit.start
  invariant(lengthBytes <= window.byteLength, 'a whole body fits into its window')
  const bytes = window.subarray(0, lengthBytes)
  let hash: BodyHash | undefined
  let hashing: Promise<void> | undefined
  let readError: unknown

  return {
    async bytes() {
      if (lengthBytes > 0) {
        try {
          await reader.read(bytes, unit.start)
        } catch (error) {
          readError = error
          throw error
        }
        hash = startHash?.()
        hashing = hash?.update(bytes) ?? undefined
        // Whoever asks for the digest hears of it.
        hashing?.catch(() => undefined)
        const leave = pace.take(lengthBytes)
        if (leave !== undefined) await leave
      }
      onReady()
      return bytes
    },
    async digest() {
      await hashing
      // An empty body was not hashed yet.
      hash ??= startHash?.()
      return hash?.digest()
    },
    async end() {
      // A hash elsewhere may still look into the window.
      await hashing?.catch(() => undefined)
      hash?.dispose?.()
    },
    readError: () => readError,
  }
}
