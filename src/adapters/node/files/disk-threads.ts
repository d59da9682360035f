// The threads on which disks are waited for. Node has four for the whole process (UV_THREADPOOL_SIZE), and a drive that is gone
// keeps each that asks it, perhaps for hours. So files to upload never take all of them: when such an upload is stopped, its journal
// must still be written. And one drive never takes all that files may have, or no file of another drive could be read any more.

import { onAbort } from '../../../core/on-abort.ts'

/** What tells drives apart: the device, or the folder until that was seen. */
export type Drive = bigint | string

export interface DiskThreads {
  /**
   * Calls `work` as soon as a thread may be taken for this drive; when that is over, `end` must be called. If the signal fires
   * while it has to wait, `refuse` is called with the reason instead.
   */
  begin(drive: Drive, work: () => void, signal?: AbortSignal, refuse?: (reason: Error) => void): void
  end(drive: Drive): void
  /** Does work that takes a thread. */
  run<T>(drive: Drive, work: () => Promise<T>): Promise<T>
}

interface Waiter {
  readonly drive: Drive
  take(): void
}

/** `count`: how many threads may be taken at once. One drive may take all but one of them. */
export function createDiskThreads(count: number): DiskThreads {
  const waiting = new Set<Waiter>()
  const taken = new Map<Drive, number>()
  const mostOfOne = Math.max(1, count - 1)
  let free = count

  const takenBy = (drive: Drive): number => taken.get(drive) ?? 0
  const mayTake = ({ drive }: Pick<Waiter, 'drive'>): boolean => free > 0 && takenBy(drive) < mostOfOne
  const change = (drive: Drive, by: number): void => {
    free -= by
    const next = takenBy(drive) + by
    if (next === 0) taken.delete(drive)
    else taken.set(drive, next)
  }
  const begin: DiskThreads['begin'] = (drive, work, signal, refuse) => {
    const take = (): void => {
      change(drive, 1)
      work()
    }
    if (mayTake({ drive })) {
      take()
      return
    }
    const waiter: Waiter = {
      drive,
      take() {
        waiting.delete(waiter)
        leave?.()
        take()
      },
    }
    waiting.add(waiter)
    const leave = signal && onAbort(signal, () => waiting.delete(waiter) && refuse?.(signal.reason as Error))
  }
  const end = (drive: Drive): void => {
    change(drive, -1)
    for (const waiter of waiting) {
      if (!mayTake(waiter)) continue
      waiter.take()
      return
    }
  }

  return {
    begin,
    end,
    async run(drive, work) {
      await new Promise<void>((resolve) => begin(drive, resolve))
      try {
        return await work()
      } finally {
        end(drive)
      }
    },
  }
}

/** Those of this process, without the one that is left to others. */
export const diskThreads = createDiskThreads(Math.max(1, (Number(process.env['UV_THREADPOOL_SIZE']) || 4) - 1))
