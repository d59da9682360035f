// The body of an attempt at a short part: read as a whole into one window, hashed there and sent in one piece. Most of what a
// sequence of windows costs (its steps, its slices, its waits) is the same for twenty kilobytes as for megabytes.

import type { BodyOptions } from './body.ts'
import type { BodyHash, Body } from '../ports.ts'
import type { Watchdog } from './watchdog.ts'

/** What a request carries, in whatever form. */
export interface Content {
  /** Makes the body. Called once. Rejects as the reader does. */
  make(): Body | Promise<Body>
  digest(): Promise<string | undefined> | string | undefined
  /** As `AttemptBody.end`. Undefined: nothing touches the windows any more. */
  end?(): Promise<void> | undefined
  /** Why reading failed, if it did. */
  readError?(): unknown
}

export interface WholeBodyOptions extends Pick<BodyOptions, 'unit' | 'reader' | 'hasher' | 'windows'> {
  /** Waits for leave to send. Undefined: the bytes may go at once. */
  take(bytes: number): Promise<void> | undefined
  /** On hold from now on, until the bytes may go. */
  readonly watchdog: Pick<Watchdog, 'hold' | 'started'>
}

/**
 * Sends short parts in one piece. An option of the engine, so that pages, whose Blobs go unread, do not load it. Undefined:
 * this part goes through windows.
 */
export type WholeBodies = (options: WholeBodyOptions) => Content | undefined

/** As much as the first slice of a window, so that one piece says as much about the line. */
const MAX_BYTES = 64 * 1024

/** Sends parts of up to 64 KiB in one piece, if they fit into the first window. */
export function wholeBodies(): WholeBodies {
  return ({ unit, reader, hasher, windows: [window], take, watchdog }) => {
    const lengthBytes = unit.end - unit.start
    if (window === undefined || lengthBytes > Math.min(MAX_BYTES, window.byteLength)) return undefined
    const bytes = window.subarray(0, lengthBytes)
    let hash: BodyHash | undefined
    let wholeDigest: (() => string) | undefined
    let hashing: Promise<void> | undefined
    watchdog.hold()
    const ready = (): Body => {
      watchdog.started()
      return { kind: 'bytes', bytes }
    }
    const hashAndWait = (): Body | Promise<Body> => {
      // Hashed before it goes, so that the digest is of what was read, whatever becomes of the memory on the way.
      wholeDigest = hasher?.whole?.(bytes)
      if (!wholeDigest) {
        hash = hasher?.start(lengthBytes)
        hashing = hash?.update(bytes) ?? undefined
        // Whoever asks for the digest learns of a failure.
        hashing?.catch(() => undefined)
      }
      return take(lengthBytes)?.then(ready) ?? ready()
    }
    const digest = (): Promise<string> | string | undefined => {
      if (wholeDigest) return wholeDigest()
      // An empty body has not been hashed yet.
      hash ??= hasher?.start()
      return hash?.digest()
    }

    return {
      make() {
        if (lengthBytes === 0) return ready()
        const reading = reader.read(bytes, unit.start)
        return reading ? reading.then(hashAndWait) : hashAndWait()
      },
      digest: () => (hashing ? hashing.then(digest) : digest()),
      end() {
        if (!hashing) {
          hash?.dispose?.()
          return undefined
        }
        // A hash that is computed elsewhere may still read the window.
        return hashing.catch(() => undefined).then(() => hash?.dispose?.())
      },
    }
  }
}
