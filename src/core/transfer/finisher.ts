// Files whose receipts are complete and that wait to be confirmed: a bounded number at once, first come, first served. Each
// file is then confirmed or has failed, or some of its parts go again. Confirmations hold no slot and no window of the engine.

import { isFatal } from './file-failure.ts'
import type { LedgerFile } from '../journal/ledger.ts'
import { unitOf } from './missing-units.ts'
import type { Schedule } from './schedule.ts'
import type { TransferJob } from './transfer-job.ts'

export interface FinisherOptions {
  readonly job: Pick<TransferJob, 'finish' | 'finishesAtOnce' | 'report'>
  readonly schedule: Pick<Schedule, 'add'>
  /** The transfer's signal: once it fires, nothing more is finished. */
  readonly signal: AbortSignal
  /** Runs a task in the lifetime of the transfer. At its end there may be parts to send. */
  readonly track: (task: () => Promise<void>) => Promise<void>
  readonly failFile: (file: LedgerFile, error: unknown) => Promise<void>
  readonly deadlineOf: (file: LedgerFile) => number | undefined
}

/**
 * Queues a file. One that is queued or under way is not taken again: two parts that become durable together both find their
 * file complete.
 */
export type Finisher = (file: LedgerFile) => void

/** Files that are finished at once, where the job does not say. */
const AT_ONCE = 4
/** As many more may hang: their memory stays with them. */
const MOST_HUNG = 64

export function createFinisher(options: FinisherOptions): Finisher {
  const { job, schedule, signal, track, failFile, deadlineOf } = options
  const queue: LedgerFile[] = []
  /** Those before this index have had their turn. Taking them off would move all that are left, each time. */
  let turn = 0
  const known = new Set<LedgerFile>()
  let running = 0
  let hung = 0

  const next = (): void => {
    while (running - Math.min(hung, MOST_HUNG) < (job.finishesAtOnce ?? AT_ONCE) && !signal.aborted) {
      const file = queue[turn]
      if (!file) return
      turn += 1
      const finishing = job.finish(file, signal, (isHung) => {
        hung += isHung ? 1 : -1
        next()
      })
      if (!finishing) {
        known.delete(file)
        job.report({ type: 'fileState', file })
      } else {
        running += 1
        void track(() => settle(file, finishing))
      }
    }
  }
  const settle = async (file: LedgerFile, finishing: Promise<readonly number[] | undefined>): Promise<void> => {
    let again: readonly number[] | undefined
    try {
      again = await finishing
      job.report({ type: 'fileState', file })
    } catch (error) {
      if (signal.aborted || isFatal(error)) throw error
      await failFile(file, error)
    }
    running -= 1
    // Forgotten before its parts go again, so that it can complete once more.
    known.delete(file)
    if (again?.length)
      schedule.add(
        again.map((partNumber) => unitOf(file, partNumber)),
        deadlineOf(file),
      )
    next()
  }
  return (file) => {
    if (known.has(file)) return
    known.add(file)
    queue.push(file)
    next()
  }
}
