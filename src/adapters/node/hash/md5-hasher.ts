// Hasher by node:crypto on the calling thread: the simplest one, and the right one while the line is slower than
// hashing.

import { createHash, hash as hashOnce, type Hash } from 'node:crypto'

import { invariant } from '../../../core/errors.ts'
import type { Hasher } from '../../../core/ports.ts'

/** MD5 on the calling thread. `update` is done when it returns, so its window is free at once. */
export function md5Hasher(): Hasher {
  return cryptoHasher('md5')
}

/** SHA-256 in the same way, for whole files. Its digest has 64 hex digits. */
export function sha256Hasher(): Hasher {
  return cryptoHasher('sha256')
}

function cryptoHasher(algorithm: 'md5' | 'sha256'): Hasher {
  return {
    // An eighth faster than making a state for it.
    whole(bytes) {
      const digest = hashOnce(algorithm, bytes)
      return () => digest
    },
    start() {
      let hash: Hash | undefined
      let isOver = false
      const begun = (): Hash => (hash ??= createHash(algorithm))
      return {
        update(bytes) {
          invariant(!isOver, 'a digest that was taken or let go was given more bytes')
          begun().update(bytes)
        },
        digest() {
          invariant(!isOver, 'a digest was asked for twice, or after it was let go')
          isOver = true
          return begun().digest('hex')
        },
        dispose() {
          isOver = true
        },
      }
    },
  }
}
