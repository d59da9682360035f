// What finishing a file means for it: it is confirmed, or parts of it go again, or it has failed.

import { isFatal } from './file-failure.ts'
import { createFinisher, type Finisher } from './finisher.ts'
import type { LedgerFile } from '../journal/ledger.ts'
import { unitOf } from './missing-units.ts'
import type { Schedule } from './schedule.ts'
import type { TransferJob } from './transfer-job.ts'

export interface FinishingOptions {
  readonly job: TransferJob
  readonly schedule: Schedule
  /** Of the transfer: nothing is finished any more. */
  readonly signal: AbortSignal
  /** Runs a task in the life of the transfer. */
  readonly track: <R>(task: () => Promise<R>) => Promise<R | undefined>
  /** There are parts to send. */
  readonly wake: () => void
  readonly failFile: (file: LedgerFile, error: unknown) => Promise<void>
  readonly deadlineOf: (file: LedgerFile) => number | undefined
  /** Files under way at once, where the job does not say. */
  readonly concurrency: number
}

export function createFinishing(options: FinishingOptions): Finisher {
  const { job, schedule, signal, track, wake, failFile, deadlineOf, concurrency } = options
  const finish = (file: LedgerFile): Promise<readonly number[] | undefined> | undefined => {
    if (signal.aborted) return undefined
    const finishing = job.finish(file, signal)
    if (finishing === undefined) {
      job.report({ type: 'fileState', file })
      return undefined
    }
    return track(async () => {
      try {
        const again = await finishing
        job.report({ type: 'fileState', file })
        return again
      } catch (error) {
        if (signal.aborted || isFatal(error)) throw error
        await failFile(file, error)
        return undefined
      }
    })
  }
  const resend = (file: LedgerFile, partNumbers: readonly number[]): void => {
    const units = partNumbers.map((partNumber) => unitOf(file, partNumber))
    job.report({ type: 'voided', units })
    schedule.add(units, deadlineOf(file))
    wake()
  }
  return createFinisher(job.finishesAtOnce ?? concurrency, finish, resend)
}
