// What a flow hands to the engine to be transferred, and what the engine reports meanwhile. It tells the engine nothing of the
// service's calls.

import type { UploadError } from '../errors.ts'
import type { RecordBody } from '../journal/journal.ts'
import type { Ledger, LedgerFile } from '../journal/ledger.ts'
import type { HostWait, Protocol, Source, Unit } from '../ports.ts'

/** `sent` comes with every window; the other events are rare. */
export type TransferEvent =
  | { readonly type: 'sent'; readonly unit: Unit; readonly sentBytes: number }
  /** `unit`: the range that was accepted. Where the storage has lost bytes meanwhile, it ends before its start. */
  | { readonly type: 'received'; readonly unit: Unit }
  /** An attempt ended without a receipt: what it sent no longer counts. */
  | { readonly type: 'attemptEnded'; readonly unit: Unit }
  | {
      readonly type: 'retry'
      readonly unit: Unit
      readonly attempt: number
      readonly delayMs: number
      readonly error: UploadError
    }
  | { readonly type: 'fileState'; readonly file: LedgerFile }
  /** Which call waits, and for which far end. Without `call`, parts wait for the storage. */
  | ({ readonly type: 'unreachable'; readonly call?: object } & Omit<HostWait, 'operation' | 'reason' | 'isDoubtful'> &
      Partial<HostWait>)
  /** A try of a call begins. Without `call`, the storage is tried again. */
  | { readonly type: 'tried'; readonly call?: object }
  /** The wait is over. Also reported at the end of each call, however it ended. */
  | { readonly type: 'reachable'; readonly call?: object }

/** Why a file needs other addresses. */
export interface RenewalReason {
  /**
   * The addresses are dead by the storage's clock, as far as we know it. False: the storage refused one that should be alive.
   */
  readonly isDead: boolean
  /** Why the storage took the addresses no longer. */
  readonly error: UploadError
  /** How long the addresses live from when they were signed, ms; undefined where they do not say. */
  readonly lifeMs: number | undefined
  readonly signal: AbortSignal
}

/** What an engine needs to transfer the files of one session. It makes no call of the service itself. */
export interface TransferJob {
  readonly ledger: Ledger
  readonly protocol: Pick<Protocol, 'traits' | 'request' | 'judge'>
  /** What gives the bytes of a file. */
  source(fileIndex: number): Pick<Source, 'open'>
  /** Makes a record durable, then applies it to the ledger (`applyRecord`). Undefined: both are already done. */
  record(body: RecordBody): Promise<void> | undefined
  /**
   * Gets addresses for the next files, in order, or fails those files. Called while few parts are ready, never twice at once. A
   * rejection ends the session.
   */
  replenish(signal: AbortSignal): Promise<void>
  /**
   * Confirms a file whose receipts are complete. Resolves with the numbers of the parts that must be sent again, if any.
   * Undefined: it is already confirmed. `onHang`: called with true when it hangs, such as on a drive that is gone, so that it holds
   * up no other, and with false when it goes on.
   */
  finish(
    file: LedgerFile,
    signal: AbortSignal,
    onHang: (isHung: boolean) => void,
  ): Promise<readonly number[] | undefined> | undefined
  /** How many files may be finished at once, for a job that makes no call and reads nothing for it. Absent: 4. */
  readonly finishesAtOnce?: number
  /**
   * Gets new addresses for a file whose addresses are no longer taken; resolves with false when there is no way. It may move
   * this and other files to a new session, which then raises their generation.
   */
  renew(file: LedgerFile, reason: RenewalReason): Promise<boolean>
  /**
   * Called after `renew` has moved files, once none of their attempts runs in the old session. A rejection ends the session.
   */
  moved?(): Promise<void>
  report(event: TransferEvent): void
}
