// What runs on one Uplink. Closing the Uplink lets go of all of it and waits until it has ended.

import { invalid, UploadError } from '../core/errors.ts'
import { onAbort } from '../core/on-abort.ts'

export interface Running {
  /** Throws ERR_UPLOAD_CLOSED once `close` was called, after which nothing new begins. */
  refuseIfClosed(): void
  /**
   * Registers something that runs until `ended` settles. `close` calls `letGo` and then waits for `ended`; if `close` was called
   * already, `letGo` is called at once. `signal` calls it too when it fires; the first to call counts. Returns `ended`. If that
   * rejects and nobody waits for it, no process is ended by it.
   */
  add<T>(ended: Promise<T>, letGo?: (by: LetGoBy) => void, signal?: AbortSignal): Promise<T>
  close(): Promise<void>
}

/** How a host lets go of an upload without holding its handle. */
export interface LettingGo {
  /**
   * Lets go of the upload when it fires, without cancelling it: attempts end, confirmed files stay and the session stays in the
   * journal. `done()` rejects with ERR_UPLOAD_CLOSED, after which `resume(key)` may continue. Default: none.
   */
  readonly signal?: AbortSignal | undefined
}

/** Why it was let go, and for the advice on how to go on, of which Uplink. */
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
      // Something that was about to begin may still add what it began.
      while (running.size > 0) await Promise.allSettled(running.keys())
    },
  }
}

export function closedError(): UploadError {
  return letGoError(BY_CLOSE, 'make another one.')
}

/** Checks the signal before anything begins: with anything but an AbortSignal it could never be let go. */
export function checkSignal(signal: AbortSignal | null | undefined): void {
  if (signal !== undefined && signal !== null && !('aborted' in Object(signal)))
    invalid('signal must be an AbortSignal.')
}

/** `advice` says how to go on. */
export function letGoError({ why }: LetGoBy, advice: string): UploadError {
  return new UploadError('ERR_UPLOAD_CLOSED', `${why}: ${advice}`)
}
