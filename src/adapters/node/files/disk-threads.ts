// The threads on which disks are waited for. Node has four for the whole process (UV_THREADPOOL_SIZE), and a drive that is gone
// keeps each that asks it, perhaps for hours. So files to upload never take all of them: when such an upload is stopped, its journal
// must still be written.

import { onAbort } from '../../../core/on-abort.ts'

export interface DiskThreads {
  /**
   * Calls `work` as soon as a thread may be taken; when that is over, `end` must be called. If the signal fires while it has to
   * wait, `refuse` is called with the reason instead.
   */
  begin(work: () => void, signal?: AbortSignal, refuse?: (reason: Error) => void): void
  end(): void
  /** Does work that takes a thread. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** `count`: how many threads may be taken at once. */
export function createDiskThreads(count: number): DiskThreads {
  const waiting = new Set<() => void>()
  let free = count

  const begin: DiskThreads['begin'] = (work, signal, refuse) => {
    if (free > 0) {
      free -= 1
      work()
      return
    }
    const take = (): void => {
      waiting.delete(take)
      leave?.()
      work()
    }
    waiting.add(take)
    const leave = signal && onAbort(signal, () => waiting.delete(take) && refuse?.(signal.reason as Error))
  }
  const end = (): void => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }

  return {
    begin,
    end,
    async run(work) {
      await new Promise<void>((resolve) => begin(resolve))
      try {
        return await work()
      } finally {
        end()
      }
    },
  }
}

/** Those of this process, without the one that is left to others. */
export const diskThreads = createDiskThreads(Math.max(1, (Number(process.env['UV_THREADPOOL_SIZE']) || 4) - 1))
