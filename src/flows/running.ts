// What runs on one Uplink: its close lets all of it go, and waits until it has ended.

import { invalid, UploadError } from '../core/errors.ts'
import { onAbort } from '../core/on-abort.ts'

export interface Running {
  /** Throws ERR_UPLOAD_CLOSED once `close` was called: nothing begins any more. */
  refuseIfClosed(): void
  /**
   * `close` waits for `ended`, and calls `letGo` first; where it was called already, at once. So does `signal` when it fires.
   * Returns `ended`, whose rejection is the caller's to handle.
   */
  add<T>(ended: Promise<T>, letGo?: () => void, signal?: AbortSignal): Promise<T>
  close(): Promise<void>
}

export function createRunning(): Running {
  const running = new Map<Promise<unknown>, () => void>()
  let isClosed = false
  return {
    refuseIfClosed() {
      if (isClosed) throw closedError()
    },
    add(ended, letGo = () => undefined, signal) {
      const unhear = signal && onAbort(signal, letGo)
      const leave = (): void => {
        unhear?.()
        running.delete(ended)
      }
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

export function closedError(): UploadError {
  return new UploadError('ERR_UPLOAD_CLOSED', 'The Uplink was closed: make another one.')
}

/** Asked before anything begins: what began with another thing could not be let go any more. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal && !('aborted' in signal)) invalid('signal must be an AbortSignal.')
}

/** `signal` let go of it, or its Uplink did. `advice` says how to go on, and ` of another one` where another Uplink must. */
export function letGoError(signal: AbortSignal | undefined, advice: (by: string) => string): UploadError {
  const isAborted = signal?.aborted === true
  const why = isAborted ? 'Let go by its signal' : 'The Uplink was closed'
  return new UploadError('ERR_UPLOAD_CLOSED', `${why}: ${advice(isAborted ? '' : ' of another one')}`)
}
