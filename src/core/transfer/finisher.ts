// Files whose receipts are complete, on their way to be confirmed: a bounded number at once, first come first served.
// Confirmations hold no slot and no window of the engine.

import type { LedgerFile } from '../journal/ledger.ts'

export interface Finisher {
  /**
   * Takes a file once: one that is queued or under way is not taken again, because two parts that become durable
   * together both find their file complete.
   */
  add(file: LedgerFile): void
}

/**
 * `finish` gives the numbers of the parts to send again, if any, and must not reject; they are handed to `resend`. Undefined: it
 * is done.
 */
export function createFinisher(
  concurrency: number,
  finish: (file: LedgerFile) => Promise<readonly number[] | undefined> | undefined,
  resend: (file: LedgerFile, partNumbers: readonly number[]) => void,
): Finisher {
  const queue: LedgerFile[] = []
  const known = new Set<LedgerFile>()
  let running = 0

  const next = (): void => {
    while (running < concurrency) {
      const file = queue.shift()
      if (file === undefined) return
      const finishing = finish(file)
      if (finishing === undefined) {
        known.delete(file)
        continue
      }
      running += 1
      void finishing.then((again) => {
        running -= 1
        // Forgotten before its parts go again, so that it can be complete once more.
        known.delete(file)
        if (again && again.length > 0) resend(file, again)
        next()
      })
    }
  }
  return {
    add(file) {
      if (known.has(file)) return
      known.add(file)
      queue.push(file)
      next()
    },
  }
}
