// Lets reads run until it is closed, and closes only when those under way have ended: nothing is pulled from under a read.

import { UploadError } from '../../core/errors.ts'

export interface ReadGate {
  /** Runs the work; rejects with ERR_UPLOAD_INTERNAL once closing has begun, because only a mistake gets there. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Refuses new work, waits for the work under way, then runs `finish` once. Idempotent: later calls share the first. */
  close(finish?: () => Promise<void>): Promise<void>
}

/** Makes a gate. `what` names the thing in the message of a late use, for example `the reader of "a.mp4"`. */
export function createReadGate(what: string): ReadGate {
  let underWay = 0
  let onIdle: (() => void) | undefined
  let closing: Promise<void> | undefined
  const idle = (): Promise<void> => (underWay === 0 ? Promise.resolve() : new Promise((resolve) => (onIdle = resolve)))
  const leave = (): void => {
    underWay -= 1
    if (underWay === 0) onIdle?.()
  }

  return {
    run(work) {
      if (closing !== undefined) return Promise.reject(usedLate(what))
      const running = work()
      underWay += 1
      running.then(leave, leave)
      return running
    },
    close(finish) {
      closing ??= idle().then(() => finish?.())
      return closing
    },
  }
}

function usedLate(what: string): UploadError {
  return new UploadError('ERR_UPLOAD_INTERNAL', `${what} was used after it was closed`)
}
