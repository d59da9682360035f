// Source over bytes that are already in memory, in Node and browsers alike.

import { invalid } from '../../core/errors.ts'
import type { Reader, Source } from '../../core/ports.ts'
import { createReadGate } from './read-gate.ts'
import { endedEarly, requirePosition, requireSame } from './source-identity.ts'

/**
 * Uploads `bytes` under `name`. The memory is not copied, so the caller must leave it alone until the upload has
 * settled. An array whose memory was transferred away or resized is reported as ERR_UPLOAD_SOURCE_CHANGED. A byte that
 * is overwritten in place goes unnoticed.
 */
export function bytesSource(name: string, bytes: Uint8Array): Source {
  if (!ArrayBuffer.isView(bytes)) invalid('bytesSource: pass a name and a Uint8Array.')
  return {
    name,
    describe(signal) {
      return attempt(() => {
        signal?.throwIfAborted()
        return { sizeBytes: bytes.byteLength }
      })
    },
    open(expected) {
      return attempt(() => {
        requireSame(name, expected, { sizeBytes: bytes.byteLength })
        return bytesReader(name, bytes)
      })
    },
  }
}

function bytesReader(name: string, bytes: Uint8Array): Reader {
  const openedBytes = bytes.byteLength
  const gate = createReadGate(`the reader of "${name}"`)

  return {
    read(into, at) {
      return gate.run(() =>
        attempt(() => {
          requirePosition(at)
          // Asked first: of memory that was transferred away, not even an empty piece can be taken.
          const leftBytes = bytes.byteLength - at
          if (leftBytes < into.byteLength) throw endedEarly(name, at, into.byteLength, leftBytes)
          into.set(bytes.subarray(at, at + into.byteLength))
        }),
      )
    },
    verify() {
      return gate.run(() =>
        attempt(() => requireSame(name, { sizeBytes: openedBytes }, { sizeBytes: bytes.byteLength })),
      )
    },
    close() {
      return gate.close()
    },
  }
}

/** Turns a throw into a rejection, as the port promises, without a function that is async and awaits nothing. */
function attempt<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()))
}
