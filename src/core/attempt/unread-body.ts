// The body of an attempt that goes to the network without being read by us: a Blob, hashed elsewhere or not at all.

import type { Pace } from '../line/pace.ts'
import type { Hasher, Reader, Unit } from '../ports.ts'
import { asSourceError } from './source-failure.ts'
import type { Content } from './whole-body.ts'

/** Whether a Blob goes out without passing through our memory: it need not be paced, and is hashed elsewhere or not at all. */
export function goesUnread(hasher: Hasher | undefined, pace: Pick<Pace, 'isLimited'>, reader: Reader): boolean {
  const isHashable = !hasher || hasher.digestBlob !== undefined
  return reader.blob !== undefined && isHashable && !pace.isLimited()
}

/** `reader` must be one for which `goesUnread` holds. */
export function blobContent(unit: Unit, reader: Reader, hasher: Hasher | undefined, signal: AbortSignal): Content {
  let digest: Promise<string> | undefined
  return {
    make() {
      let blob: Blob
      try {
        blob = (reader as Required<Reader>).blob(unit.start, unit.end)
      } catch (error) {
        throw asSourceError(error)
      }
      digest = hasher?.digestBlob?.(blob, signal)
      digest?.catch(() => undefined)
      return { kind: 'blob', lengthBytes: unit.end - unit.start, blob }
    },
    digest: () => digest,
  }
}
