// An MD5 that takes time, as on another thread, and notices if a window changes before it is done with it.

import { createHash } from 'node:crypto'

import type { Clock, Hasher } from '../../src/core/ports.ts'

export interface SlowHasher extends Hasher {
  readonly violations: readonly string[]
  /** Hashes that were started and neither digested nor disposed of. */
  readonly openCount: number
}

export function slowHasher(clock: Clock, updateMs: () => number): SlowHasher {
  const violations: string[] = []
  let openCount = 0
  return {
    violations,
    get openCount() {
      return openCount
    },
    start() {
      const hash = createHash('md5')
      let underWay = 0
      let isOpen = true
      openCount += 1
      const close = (): void => {
        if (isOpen) openCount -= 1
        isOpen = false
      }
      return {
        async update(bytes) {
          const before = bytes.slice()
          if (underWay > 0) violations.push('two updates of one hash at once')
          underWay += 1
          const delayMs = updateMs()
          if (delayMs > 0) await new Promise<void>((resolve) => clock.setTimeout(resolve, delayMs))
          if (Buffer.compare(before, bytes) !== 0) violations.push('a window changed while it was hashed')
          hash.update(before)
          underWay -= 1
        },
        digest() {
          if (underWay > 0) violations.push('a digest was asked for before the last update had settled')
          close()
          return hash.digest('hex')
        },
        dispose: close,
      }
    },
  }
}
