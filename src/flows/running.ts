// What runs on one Uplink: its close lets all of it go, and waits until it has ended.

import { UploadError } from '../core/errors.ts'

export interface Running {
  /** Throws ERR_UPLOAD_CLOSED once `close` was called: nothing begins any more. */
  refuseIfClosed(): void
  /**
   * `close` waits for `ended`, and calls `letGo` first; where it was called already, at once. Returns `ended`, whose rejection
   * is the caller's to handle.
   */
  add<T>(ended: Promise<T>, letGo?: () => void): Promise<T>
  close(): Promise<void>
}

export function createRunning(): Running {
  const running = new Map<Promise<unknown>, () => void>()
  let isClosed = false
  return {
    refuseIfClosed() {
      if (isClosed) throw closedError()
    },
    add(ended, letGo = () => undefined) {
      const leave = (): void => void running.delete(ended)
      running.set(ended, letGo)
      ended.then(leave, leave)
      if (isClosed) letGo()
      return ended
    },
    async close() {
      isClosed = true
      for (const letGo of running.values()) letGo()
      // What was about to begin adds what it has begun.
      while (running.size > 0) await Promise.allSettled(running.keys())
    },
  }
}

/** `advice`: how to go on. */
export function closedError(advice = 'make another one.'): UploadError {
  return new UploadError('ERR_UPLOAD_CLOSED', `The Uplink was closed: ${advice}`)
}
