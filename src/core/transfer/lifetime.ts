// The life of one piece of concurrent work. Tasks come and go; when the work is stopped or over, `done` settles only after the
// last task has ended. So whoever awaits it knows that nothing runs any more.

import { onAbort } from '../on-abort.ts'

export interface Lifetime<T> {
  /** Fires when the work is stopped; its reason says why. */
  readonly signal: AbortSignal
  readonly done: Promise<T>
  /**
   * Runs a task, unless the work was stopped, and resolves with its result. A task that rejects stops everything. Never
   * rejects; resolves with undefined when there is no result.
   */
  track<R>(task: () => Promise<R>): Promise<R | undefined>
  /** Fires the signal; `done` rejects with the reason once the last task has ended. */
  stop(reason: unknown): void
  /** Settles `done` when no task runs and the outcome is there, or the work was stopped. */
  settleIfOver(): void
}

/**
 * `outcome` gives what `done` resolves with, or undefined while the work is not over. `onTaskEnd` is called after each task.
 */
export function createLifetime<T extends object>(
  outer: AbortSignal,
  outcome: () => T | undefined,
  onTaskEnd?: () => void,
): Lifetime<T> {
  const inner = new AbortController()
  const { signal } = inner
  let taskCount = 0
  let resolve: (value: T) => void
  let reject: (reason: unknown) => void
  const done = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // A rejection does not count as unhandled before whoever starts the work awaits it.
  done.catch(() => undefined)

  const settleIfOver = (): void => {
    if (taskCount > 0) return
    if (signal.aborted) reject(signal.reason)
    else {
      const value = outcome()
      if (!value) return
      resolve(value)
    }
    leave()
  }
  const stop = (reason: unknown): void => {
    inner.abort(reason)
    settleIfOver()
  }
  let leave = (): void => undefined
  leave = onAbort(outer, () => stop(outer.reason))

  return {
    signal,
    done,
    stop,
    settleIfOver,
    async track(task) {
      if (signal.aborted) return undefined
      let result
      taskCount += 1
      try {
        result = await task()
      } catch (error) {
        stop(error)
      }
      taskCount -= 1
      settleIfOver()
      onTaskEnd?.()
      return result
    },
  }
}
