// A stand-in for MD5 where thousands of sessions are simulated: 32 hex digits as well, at a fraction of the cost.
// Client and storage compute it independently, each over its own bytes.

import type { Hasher } from '../../../src/core/ports.ts'

/** Starts, updates and reads a digest. How the bytes are split into pieces makes no difference. */
export function createDigest(): { update(bytes: Uint8Array): void; read(): string } {
  let [a, b, c, d] = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476]
  return {
    update(bytes) {
      // Kept in local variables, because variables of the closure are in memory and would be written there for every byte.
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

/** The two digits of every byte, because V8's `toString(16)` is slow for numbers as large as a word. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hexOf(word: number): string {
  return HEX[word >>> 24]! + HEX[(word >>> 16) & 255]! + HEX[(word >>> 8) & 255]! + HEX[word & 255]!
}

export function digestOf(bytes: Uint8Array): string {
  const digest = createDigest()
  digest.update(bytes)
  return digest.read()
}

/** The client's side of the digest. */
export function digestHasher(): Hasher {
  return {
    start() {
      const digest = createDigest()
      return { update: (bytes) => digest.update(bytes), digest: () => digest.read() }
    },
  }
}
