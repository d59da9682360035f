// What a session's journal says, and the pure fold that turns it into a ledger and a place to go on from.
// The write order is: intent, call, result. A record is appended before the next step that relies on it. Addresses are
// in here, because a video session cannot be asked for them again; that is why a journal on disk is for its owner's
// eyes only.

import type { ErrorSummary } from './errors.ts'
import type { AddressedFile, PlannedFile, Receipt } from './ports.ts'

/** Version of the record types. A journal with another one is refused, never guessed. */
export const JOURNAL_VERSION = 1

export type FlowName = 'video' | 'capture'
export type FinalStatus = 'confirmed' | 'partial' | 'cancelled' | 'failed'

/** `at` is wall time in ms since 1970. Every record is plain JSON. */
export type JournalRecord = { readonly at: number } & (
  | {
      readonly type: 'session.begun'
      readonly version: typeof JOURNAL_VERSION
      readonly key: string
      readonly flow: FlowName
      /** What the flow needs to make its protocol again; never a credential. */
      readonly params: Readonly<Record<string, unknown>>
      readonly files: readonly PlannedFile[]
      /** Where each source was found, by file index, to find it again. */
      readonly locations: readonly string[]
    }
  | { readonly type: 'session.creating' }
  | {
      readonly type: 'session.created'
      readonly sessionId: string | number
      readonly files?: readonly AddressedFile[]
      readonly hasPossibleOrphan?: boolean
    }
  | { readonly type: 'files.registering'; readonly fileIndexes: readonly number[] }
  | { readonly type: 'files.registered'; readonly files: readonly AddressedFile[] }
  /** The whole body of a unit was handed over and no answer came: the far end may have it, also later. */
  | { readonly type: 'part.doubtful'; readonly fileIndex: number; readonly partNumber: number }
  | {
      readonly type: 'part.received'
      readonly fileIndex: number
      readonly partNumber: number
      readonly receipt: Receipt
    }
  /** Receipts that the far end no longer honours: these parts are sent again. */
  | { readonly type: 'parts.voided'; readonly fileIndex: number; readonly partNumbers: readonly number[] }
  | { readonly type: 'file.confirming'; readonly fileIndex: number }
  | { readonly type: 'file.confirmed'; readonly fileIndex: number }
  | { readonly type: 'file.failed'; readonly fileIndex: number; readonly error: ErrorSummary }
  | { readonly type: 'session.cancelling' }
  | { readonly type: 'session.cancelled'; readonly isServiceTold: boolean }
  | { readonly type: 'session.settled'; readonly status: FinalStatus; readonly error?: ErrorSummary }
)
