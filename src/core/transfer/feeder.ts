// Gets addresses for the next files, one request at a time, while few parts are ready. An address that is requested long before
// it is used ages meanwhile.

import { invariant } from '../errors.ts'
import type { LedgerFile } from '../journal/ledger.ts'
import type { TransferJob } from './transfer-job.ts'

export interface Feeder {
  /** Whether there are files to ask for and no request is under way. */
  isHungry(): boolean
  /** Whether every file has been asked for and answered. */
  isDone(): boolean
  /** Makes one request. Rejects as `job.replenish` does. */
  feed(signal: AbortSignal): Promise<void>
}

/** `onFile` is called for every file that is no longer `planned`: it has addresses now, or it has failed. */
export function createFeeder(job: TransferJob, onFile: (file: LedgerFile) => void): Feeder {
  const planned = job.ledger.files.filter((file) => file.state === 'planned')
  /** Files are requested in order. Those before this index have been reported. */
  let next = 0
  let isFeeding = false

  return {
    isHungry: () => !isFeeding && next < planned.length,
    isDone: () => next === planned.length,
    async feed(signal) {
      isFeeding = true
      await job.replenish(signal)
      const before = next
      for (let file = planned[next]; file && file.state !== 'planned'; file = planned[next]) {
        next += 1
        onFile(file)
      }
      // A request without an effect would be repeated for ever.
      invariant(next > before || signal.aborted, 'a request for addresses settles at least one file')
      isFeeding = false
    },
  }
}
