// Stands for MD5 where thousands of sessions are simulated: the same form, 32 hex digits, at a fraction of its cost. Client
// and storage compute it apart from each other, over the bytes that each of them has.

import type { Hasher } from '../../../src/core/ports.ts'

/** Starts, updates and reads a digest; the pieces in which the bytes come make no difference. */
export function createDigest(): { update(bytes: Uint8Array): void; read(): string } {
  let [a, b, c, d] = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476]
  return {
    update(bytes) {
      // In variables of this call: those outside live in memory, and would be written there for every byte.
      let [e, f, g, h] = [a, b, c, d]
      for (const byte of bytes) {
        e = Math.imul(e ^ byte, 0x01000193)
        f = Math.imul(f + byte + 1, 0x85ebca6b) ^ (e >>> 15)
        g = Math.imul(g ^ f, 0xc2b2ae35) + byte
        h = Math.imul(h + g, 0x27d4eb2f) ^ (g >>> 13)
      }
      ;[a, b, c, d] = [e, f, g, h]
    },
    read: () => hexOf(a) + hexOf(b) + hexOf(c) + hexOf(d),
  }
}

/** Every byte's two digits: `toString(16)` of numbers as large as a word is what V8 is slow at. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hexOf(word: number): string {
  return HEX[word >>> 24]! + HEX[(word >>> 16) & 255]! + HEX[(word >>> 8) & 255]! + HEX[word & 255]!
}

export function digestOf(bytes: Uint8Array): string {
  const digest = createDigest()
  digest.update(bytes)
  return digest.read()
}

/** The client's side of it. */
export function digestHasher(): Hasher {
  return {
    start() {
      const digest = createDigest()
      return { update: (bytes) => digest.update(bytes), digest: () => digest.read() }
    },
  }
}
