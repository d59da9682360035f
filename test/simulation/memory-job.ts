// A transfer job in memory: its journal is a list, its addresses are invented, and the test answers its confirmations.
// It checks that each file is confirmed once, with all of its receipts.

import type { JournalRecord } from '../../src/core/journal/journal.ts'
import { applyRecord } from '../../src/core/journal/apply-record.ts'
import { createLedger, type Ledger, type LedgerFile } from '../../src/core/journal/ledger.ts'
import { planFile } from '../../src/core/plan.ts'
import type { Clock, PlannedFile, Protocol, Source } from '../../src/core/ports.ts'
import type { TransferEvent, TransferJob } from '../../src/core/transfer/transfer-job.ts'
import { addressesOf, SMALL_LIMITS, testProtocol } from './test-protocol.ts'

export interface MemoryJobOptions {
  readonly clock: Clock
  readonly sources: readonly (Source & { readonly bytes: Uint8Array })[]
  readonly partSizeBytes?: number
  readonly protocol?: Pick<Protocol, 'traits' | 'request' | 'judge'>
  /** Answers a confirmation: with the parts to send again (default none), or by rejecting. */
  readonly confirm?: (file: LedgerFile, signal: AbortSignal) => readonly number[] | Promise<readonly number[]>
  readonly renew?: (file: LedgerFile) => boolean | Promise<boolean>
  readonly replenish?: (planned: readonly LedgerFile[]) => Promise<void>
  /** Awaited before each record is written. Default: records are written at once. */
  readonly onRecord?: (record: JournalRecord) => Promise<void> | void
  /** The ledger of an earlier run. */
  readonly ledger?: Ledger
}

export interface MemoryJob extends TransferJob {
  readonly records: readonly JournalRecord[]
  readonly events: readonly TransferEvent[]
  readonly plans: readonly PlannedFile[]
  /** The file indexes of the confirmations, in the order in which they were asked for. */
  readonly confirmations: readonly number[]
  readonly violations: readonly string[]
  record(body: object): Promise<void>
}

export function createMemoryJob(options: MemoryJobOptions): MemoryJob {
  const { clock, sources, protocol = testProtocol(), confirm = () => [] } = options
  const plans = sources.map((source, fileIndex): PlannedFile => {
    const { name, bytes } = source
    const sizeBytes = bytes.byteLength
    const asked = options.partSizeBytes === undefined ? {} : { partSizeBytes: options.partSizeBytes }
    return { fileIndex, name, sizeBytes, ...planFile({ name, sizeBytes, limits: SMALL_LIMITS, ...asked }) }
  })
  const ledger = options.ledger ?? createLedger(plans)
  const records: JournalRecord[] = []
  const events: TransferEvent[] = []
  const confirmations: number[] = []
  const violations: string[] = []
  const generations = new Map<number, number>()

  const record = async (body: object): Promise<void> => {
    const stamped = { ...body, at: clock.wallNow() } as JournalRecord
    await options.onRecord?.(stamped)
    records.push(stamped)
    applyRecord(ledger, stamped)
  }
  const isFirstRun = options.ledger === undefined
  if (isFirstRun && protocol.traits.addressing === 'session') {
    const created = {
      type: 'session.created',
      sessionId: 1,
      files: plans.map((plan) => addressesOf(plan)),
      at: 0,
    } as const
    records.push(created)
    applyRecord(ledger, created)
  }

  return {
    ...{ ledger, protocol, records, events, plans, confirmations, violations, record },
    source: (fileIndex) => sources[fileIndex]!,
    report: (event) => void events.push(event),
    async replenish() {
      const planned = ledger.files.filter((file) => file.state === 'planned')
      if (options.replenish !== undefined) return options.replenish(planned)
      const batch = planned.slice(0, protocol.traits.batchSize)
      await record({ type: 'files.registered', files: batch.map(({ plan }) => addressesOf(plan)) })
    },
    async finish(file, signal) {
      const { fileIndex } = file.plan
      confirmations.push(fileIndex)
      if (file.state === 'confirmed') violations.push(`file ${String(fileIndex)} was confirmed twice`)
      const isCovered = file.parts.every((part) => part.receipt?.acceptedEnd === part.end)
      if (!isCovered) violations.push(`file ${String(fileIndex)} was confirmed without all receipts`)
      await record({ type: 'file.confirming', fileIndex })
      const again = await confirm(file, signal)
      if (again.length > 0) await record({ type: 'parts.voided', fileIndex, partNumbers: again })
      else await record({ type: 'file.confirmed', fileIndex })
      return again
    },
    async renew(file) {
      const isRenewed = (await options.renew?.(file)) ?? false
      if (!isRenewed) return false
      const generation = (generations.get(file.plan.fileIndex) ?? 1) + 1
      generations.set(file.plan.fileIndex, generation)
      await record({ type: 'files.registered', files: [addressesOf(file.plan, generation)] })
      return true
    },
  }
}

/** The ledger that the next life folds from what earlier ones recorded. */
export function refold(...jobs: readonly MemoryJob[]) {
  const ledger = createLedger(jobs[0]!.plans)
  for (const job of jobs) for (const record of job.records) applyRecord(ledger, record)
  return ledger
}
