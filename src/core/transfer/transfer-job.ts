// What a flow hands to the engine to be transferred, and what the engine tells it meanwhile. The engine learns nothing
// of the service's verbs from it.

import type { UploadError } from '../errors.ts'
import type { JournalRecord } from '../journal/journal.ts'
import type { Ledger, LedgerFile } from '../journal/ledger.ts'
import type { HostWait, Protocol, Source, Unit } from '../ports.ts'

/** A record without its time, which the job stamps. */
export type RecordBody = JournalRecord extends infer R ? (R extends JournalRecord ? Omit<R, 'at'> : never) : never

/** `sent` comes with every window; the others are rare. */
export type TransferEvent =
  | { readonly type: 'sent'; readonly unit: Unit; readonly sentBytes: number }
  /** `unit`: as much of it as was accepted. */
  | { readonly type: 'received'; readonly unit: Unit }
  /** An attempt ended without a receipt: what it sent does not count. */
  | { readonly type: 'attemptEnded'; readonly unit: Unit }
  | {
      readonly type: 'retry'
      readonly unit: Unit
      readonly attempt: number
      readonly delayMs: number
      readonly error: UploadError
    }
  /** Receipts that the far end did not honour: these parts go again. */
  | { readonly type: 'voided'; readonly units: readonly Unit[] }
  | { readonly type: 'fileState'; readonly file: LedgerFile }
  /** Which call waits, and for whom; without a call it is parts that wait for the storage. */
  | ({ readonly type: 'unreachable'; readonly call?: object } & Omit<HostWait, 'operation' | 'reason' | 'isDoubtful'> &
      Partial<HostWait>)
  /** A try of a call begins, or, without one, the storage is asked again. */
  | { readonly type: 'tried'; readonly call?: object }
  /** Also at the end of each call, however it ended. */
  | { readonly type: 'reachable'; readonly call?: object }

export interface RenewalReason {
  /** By the storage's clock as we know it the addresses are dead; else it refused one that should live. */
  readonly isDead: boolean
  /** The storage's own words: the addresses have expired. Else it gave no reason. */
  readonly isExpired: boolean
  /** How long they live, from when they were signed; undefined where they do not say. */
  readonly lifeMs: number | undefined
  readonly signal: AbortSignal
}

export interface TransferJob {
  readonly ledger: Ledger
  readonly protocol: Pick<Protocol, 'traits' | 'request' | 'judge'>
  source(fileIndex: number): Source
  /** Makes a record durable, then applies it to the ledger. Undefined: both is done. */
  record(body: RecordBody): Promise<void> | undefined
  /**
   * Gets addresses for the next files, in order, or fails them; called while few parts are ready, never twice at once.
   * A rejection ends the session.
   */
  replenish(signal: AbortSignal): Promise<void>
  /**
   * Every receipt of the file is there: confirms it. Resolves with the numbers of parts that must be sent again, if any.
   * Undefined: it is confirmed.
   */
  finish(file: LedgerFile, signal: AbortSignal): Promise<readonly number[] | undefined> | undefined
  /** How many files may be finished at once, where that is no call and reads nothing; absent: the engine's own number. */
  readonly finishesAtOnce?: number
  /**
   * Asks for new addresses for a file whose addresses are no longer taken; false when there is no way. It may move this and
   * other files to a new session: their generation tells.
   */
  renew(file: LedgerFile, reason: RenewalReason): Promise<boolean>
  /** After `renew` has moved files: no attempt of theirs in the old session runs any more. A rejection ends the session. */
  moved?(): Promise<void>
  report(event: TransferEvent): void
}
