// What runs on one Uplink: its close lets all of it go, and waits until it has ended.

import { invalid, UploadError } from '../core/errors.ts'
import { onAbort } from '../core/on-abort.ts'

export interface Running {
  /** Throws ERR_UPLOAD_CLOSED once `close` was called: nothing begins any more. */
  refuseIfClosed(): void
  /**
   * `close` waits for `ended`, and calls `letGo` first; where it was called already, at once. So does `signal` when it fires:
   * the first of them counts. Returns `ended`, whose rejection is the caller's to handle.
   */
  add<T>(ended: Promise<T>, letGo?: (by: LetGoBy) => void, signal?: AbortSignal): Promise<T>
  close(): Promise<void>
}

/** Who has let go of it, and, for the way on, of which Uplink that is. */
export interface LetGoBy {
  readonly why: string
  readonly where: string
}

const BY_CLOSE: LetGoBy = { why: 'The Uplink was closed', where: ' of another one' }
const BY_SIGNAL: LetGoBy = { why: 'Let go by its signal', where: '' }

export function createRunning(): Running {
  const running = new Map<Promise<unknown>, (by: LetGoBy) => void>()
  let isClosed = false
  return {
    refuseIfClosed() {
      if (isClosed) throw closedError()
    },
    add(ended, letGo = () => undefined, signal) {
      const unhear = signal && onAbort(signal, () => letGo(BY_SIGNAL))
      const leave = (): void => {
        unhear?.()
        running.delete(ended)
      }
      running.set(ended, letGo)
      ended.then(leave, leave)
      if (isClosed) letGo(BY_CLOSE)
      return ended
    },
    async close() {
      isClosed = true
      for (const letGo of running.values()) letGo(BY_CLOSE)
      // What was about to begin adds what it has begun.
      while (running.size > 0) await Promise.allSettled(running.keys())
    },
  }
}

export function closedError(): UploadError {
  return letGoError(BY_CLOSE, 'make another one.')
}

/** Asked before anything begins: what began with another thing could not be let go any more. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal && !('aborted' in signal)) invalid('signal must be an AbortSignal.')
}

/** `advice` says how to go on. */
export function letGoError({ why }: LetGoBy, advice: string): UploadError {
  return new UploadError('ERR_UPLOAD_CLOSED', `${why}: ${advice}`)
}
