// Files that were moved to a new session: what was scheduled of them is void, and they start anew there.

import type { Attempts } from './attempts.ts'
import { UploadError } from '../errors.ts'
import type { LedgerFile } from '../journal/ledger.ts'
import { missingUnits } from './missing-units.ts'
import type { Schedule } from './schedule.ts'
import type { TransferJob } from './transfer-job.ts'

/**
 * Makes a function that restarts the files which were moved since its last call. The attempts of a file end before its first
 * part goes to the new session. All of them end before the job hears that nothing goes to the old session any more.
 */
export function createMovedFiles(
  job: TransferJob,
  schedule: Schedule,
  attempts: Attempts,
  deadlineOf: (file: LedgerFile) => number | undefined,
): () => Promise<void> {
  const generations = job.ledger.files.map((file) => file.generation)
  /** Calls under way: files may be moved again while the attempts of an earlier move are still ending. */
  let taking = 0
  return async () => {
    const moved = job.ledger.files.filter((file, index) => generations[index] !== file.generation)
    if (moved.length === 0) return
    taking += 1
    for (const { plan, generation } of moved) {
      generations[plan.fileIndex] = generation
      schedule.restart(plan.fileIndex, [])
      attempts.abortFile(plan.fileIndex, new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', 'The session was replaced.'))
    }
    const restart = async (file: LedgerFile): Promise<void> => {
      await attempts.idle(file.plan.fileIndex)
      if (file.state === 'ready') schedule.restart(file.plan.fileIndex, missingUnits(file), deadlineOf(file))
    }
    // Not one after another: a file that waited for those before it might have been moved again and gone on by then.
    await Promise.all(moved.map(restart))
    taking -= 1
    if (taking === 0) await job.moved?.()
  }
}
