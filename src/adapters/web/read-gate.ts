// Lets reads run until it is closed. Closing waits for the reads under way, so that nothing is pulled from under one.

import { invariant } from '../../core/errors.ts'

export interface ReadGate {
  /** Runs the work. Rejects with ERR_UPLOAD_INTERNAL once closing has begun, because only a mistake gets there. */
  run<T>(work: () => Promise<T>): Promise<T>
  /**
   * Refuses new work, waits for the work under way, then runs `finish` once. Idempotent: later calls share the first.
   */
  close(finish?: () => Promise<void> | void): Promise<void>
}

/** Makes a gate. `what` names the thing in the message of a late use, for example `the reader of "a.mp4"`. */
export function createReadGate(what: string): ReadGate {
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  return {
    async run(work) {
      invariant(!closing, `${what} was used after it was closed`)
      const running = work()
      underWay.add(running)
      try {
        return await running
      } finally {
        underWay.delete(running)
      }
    },
    close(finish) {
      const idle: Promise<unknown> = underWay.size === 0 ? Promise.resolve() : Promise.allSettled(underWay)
      closing ??= idle.then(() => finish?.())
      return closing
    },
  }
}
