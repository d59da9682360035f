// What a file was like at some places that were read of it. When its drive was taken out and put back, that tells whether it is the
// same file: another card may be in its place, with a clip of the same name, second and length.
//
// At first a place is noted in every 64 KiB, and ever fewer of a long file. Two recordings differ wherever they carry anything, but
// may share their beginning, and much that is empty.

import { crc32, deflateRawSync } from 'node:zlib'

/** Whether another file has the same bytes. `unknown`: it does, as far as was looked, but what was looked at may be the same in many. */
export type Likeness = 'same' | 'other' | 'unknown'

export interface Fingerprint {
  /** Called with all that was read from byte `at` on. */
  note(bytes: Uint8Array, at: number): void
  /** `read` fills all of a window, or returns how little of it there was. Rejects as it does. */
  compare(read: (into: Uint8Array, at: number) => number | Promise<number>): Promise<Likeness>
}

const PLACE_BYTES = 4_096
/** At most so many places are remembered, which takes a kilobyte. Once there are more, every other one is forgotten. */
const MOST_PLACES = 32
const FIRST_STRIDE_BYTES = 65_536
/** So many places must carry something, and at least half of all. */
const ENOUGH_PLACES = 4
/** What can be packed into less than this carries next to nothing: zeros, a pattern, a column of times beside empty ones. */
const PACKED_BYTES = PLACE_BYTES / 4

export function createFingerprint(): Fingerprint {
  /** The checksums of the places, by stretch of the file: each stretch has one. */
  let places = new Map<number, { readonly at: number; readonly sum: number }>()
  let strideBytes = FIRST_STRIDE_BYTES

  return {
    note(bytes, at) {
      const stepBytes = strideBytes
      // From the end of what was read, because beginnings are alike.
      for (let start = bytes.byteLength - PLACE_BYTES; start >= 0; start -= stepBytes) {
        const stretch = Math.floor((at + start) / strideBytes)
        if (places.has(stretch)) continue
        places.set(stretch, { at: at + start, sum: crc32(bytes.subarray(start, start + PLACE_BYTES)) })
        while (places.size > MOST_PLACES) {
          strideBytes *= 2
          places = new Map([...places].map(([index, place]) => [Math.floor(index / 2), place]))
        }
      }
    },
    async compare(read) {
      const window = new Uint8Array(PLACE_BYTES)
      const noted = [...places.values()]
      let carrying = 0
      for (const { at, sum } of noted) {
        const filled = await read(window, at)
        if (filled < PLACE_BYTES || crc32(window) !== sum) return 'other'
        if (deflateRawSync(window, { level: 1 }).byteLength >= PACKED_BYTES) carrying += 1
      }
      return carrying >= ENOUGH_PLACES && carrying * 2 >= noted.length ? 'same' : 'unknown'
    },
  }
}
