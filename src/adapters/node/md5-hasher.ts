// Hasher by node:crypto, on the calling thread: the simplest one, and the right one while the line is the slower part.

import { createHash } from 'node:crypto'

import { invariant } from '../../core/errors.ts'
import type { Hasher } from '../../core/ports.ts'

/** MD5 on the calling thread. `update` is done when it returns, so its window is free at once. */
export function md5Hasher(): Hasher {
  return {
    start() {
      const hash = createHash('md5')
      let isOver = false
      return {
        update(bytes) {
          invariant(!isOver, 'a digest that was taken or let go was given more bytes')
          hash.update(bytes)
        },
        digest() {
          invariant(!isOver, 'a digest was asked for twice, or after it was let go')
          isOver = true
          return hash.digest('hex')
        },
        dispose() {
          isOver = true
        },
      }
    },
  }
}
