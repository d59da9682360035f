// Which parts of a file are scheduled: all that lack a receipt, when its addresses come, and all of its new session once it
// has moved to one and the attempts of the old one have ended.

import type { AddressClock } from './address-clock.ts'
import type { Attempts } from './attempts.ts'
import { UploadError } from './errors.ts'
import { isReceived, partAt, type LedgerFile } from './ledger.ts'
import type { Unit } from './ports.ts'
import type { Schedule } from './schedule.ts'
import type { TransferJob } from './transfer-job.ts'

export interface TakingUp {
  /** A file at whatever point of its life: schedules what it lacks, or tells that it lacks nothing. */
  takeUp(file: LedgerFile): void
  /** Takes up those that have gone to a new session since the last call. Rejects never. */
  takeUpMoved(): Promise<void>
}

export interface TakingUpOptions {
  readonly job: Pick<TransferJob, 'ledger'>
  readonly schedule: Schedule
  readonly attempts: Attempts
  readonly addresses: AddressClock
  /** Every receipt of the file is there. */
  readonly onComplete: (file: LedgerFile) => void
}

export function createTakingUp({ job, schedule, attempts, addresses, onComplete }: TakingUpOptions): TakingUp {
  const generations = new Map(job.ledger.files.map((file) => [file, file.generation]))
  /** All addresses of a file come together, so one of them speaks for all. */
  const deadlineOf = ({ addresses: [first], addressedAtMs }: LedgerFile): number | undefined =>
    first === undefined ? undefined : addresses.deadlineMs(first, addressedAtMs)

  return {
    takeUp(file) {
      if (file.state === 'ready') schedule.add(missingUnits(file), deadlineOf(file))
      if (file.state === 'received' || file.state === 'confirming') onComplete(file)
    },
    async takeUpMoved() {
      const moved = job.ledger.files.filter((file) => generations.get(file) !== file.generation)
      for (const file of moved) generations.set(file, file.generation)
      for (const { plan } of moved) {
        schedule.restart(plan.fileIndex, [])
        const replaced = new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', 'The session was replaced.')
        attempts.abortFile(plan.fileIndex, replaced)
      }
      for (const file of moved) {
        await attempts.idle(file.plan.fileIndex)
        if (file.state === 'ready') schedule.restart(file.plan.fileIndex, missingUnits(file), deadlineOf(file))
      }
    },
  }
}

function missingUnits(file: LedgerFile): Unit[] {
  return file.parts.filter((part) => !isReceived(part)).map((part) => unitOf(file, part.partNumber))
}

/** What of a part is still to be sent. */
export function unitOf(file: LedgerFile, partNumber: number): Unit {
  const { start, end, receipt } = partAt(file, partNumber)
  return { fileIndex: file.plan.fileIndex, partNumber, start: receipt?.acceptedEnd ?? start, end }
}
