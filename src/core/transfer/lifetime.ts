// The life of one piece of concurrent work: tasks come and go; when the work is stopped, or is over, it settles only
// after the last task has ended. So whoever awaits it knows that nothing runs any more.

import { onAbort } from '../on-abort.ts'

export interface Lifetime<T> {
  /** Fires when the work is stopped; its reason is why. */
  readonly signal: AbortSignal
  readonly done: Promise<T>
  /**
   * Runs a task inside the life, unless it was stopped, and gives its result. A task that rejects stops everything. Never
   * rejects; undefined when there is no result.
   */
  track<R>(task: () => Promise<R>): Promise<R | undefined>
  /** Stops: the signal fires, and `done` rejects with the reason when the last task has ended. */
  stop(reason: unknown): void
  /** Settles `done` when no task runs and the outcome is there, or the work was stopped. */
  settleIfOver(): void
}

/** `outcome` says what `done` resolves with, or undefined while the work is not over. `onTaskEnd`: a task has ended. */
export function createLifetime<T extends object>(
  outer: AbortSignal,
  outcome: () => T | undefined,
  onTaskEnd: () => void = () => undefined,
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
  // Whoever starts the work awaits it; until then a rejection is not unhandled.
  done.catch(() => undefined)

  const settleIfOver = (): void => {
    if (taskCount > 0) return
    const value = signal.aborted ? undefined : outcome()
    if (value === undefined && !signal.aborted) return
    leave()
    if (value === undefined) reject(signal.reason)
    else resolve(value)
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
      onTaskEnd()
      return result
    },
  }
}
