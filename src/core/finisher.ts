// Files whose receipts are complete, on their way to be confirmed: a bounded number at once, first come first served.
// Confirmations hold no slot and no window of the engine.

import type { LedgerFile } from './ledger.ts'

export interface Finisher {
  add(file: LedgerFile): void
}

/** `finish` must not reject. */
export function createFinisher(concurrency: number, finish: (file: LedgerFile) => Promise<void>): Finisher {
  const queue: LedgerFile[] = []
  let running = 0

  const next = (): void => {
    while (running < concurrency) {
      const file = queue.shift()
      if (file === undefined) return
      running += 1
      void finish(file).then(() => {
        running -= 1
        next()
      })
    }
  }
  return {
    add(file) {
      queue.push(file)
      next()
    },
  }
}
