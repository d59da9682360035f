// The records of a session's journal. The write order is intent, call, result: a record is appended before the next step that
// relies on it. Addresses are in here, because a video session cannot be asked for them again; that is why a journal on disk is
// for its owner's eyes only.

import type { ErrorSummary } from '../errors.ts'
import type { AddressedFile, PlannedFile, Receipt } from '../ports/protocol.ts'
import type { LedgerFile, LedgerPart } from './ledger.ts'

/** Version of the record types. A journal with another one is refused, never guessed at. */
export const JOURNAL_VERSION = 1

/** `custom`: a protocol that the host brings. */
export type FlowName = 'video' | 'capture' | 'custom'
/** How a session ended. `partial`: some files are confirmed, some not. */
export type FinalStatus = 'confirmed' | 'partial' | 'cancelled' | 'failed'

/** Where a session's life goes on: nothing was asked yet, a create has no result yet, it is open, being cancelled, or over. */
export type JournalPlace = 'new' | 'creating' | 'created' | 'cancelling' | FinalStatus

/** Where a session stands, apart from its files. */
export interface SessionStanding {
  readonly place: JournalPlace
  /** `host:port` of the service that made the session, or else that was asked first; undefined for a protocol of the host's. */
  readonly host?: string | undefined
  readonly sessionId: string | number | undefined
  /** Sessions that hold no file any more, or never did, and of which the service has not been told for certain. */
  readonly leftSessionIds: readonly (string | number)[]
  /** A session that is to take over from this one was asked for, and nothing has been heard of it yet. */
  readonly isReplacing: boolean
  /** A create was asked for more than once, or without a result: an unused session may exist at the far end. */
  readonly hasPossibleOrphan: boolean
  readonly isServiceTold: boolean | undefined
  /** It was given up, except for what is confirmed or may be; undefined also where nothing is. */
  readonly keepsConfirmed: boolean | undefined
}

/** A file of the ledger, without what follows from its plan and its parts. */
export type KeptFile = Omit<LedgerFile, 'plan' | 'parts' | 'receivedCount'> & {
  readonly fileIndex: number
  readonly parts: readonly KeptPart[]
}
export type KeptPart = Omit<LedgerPart, 'partNumber' | 'start' | 'end'>

/** One record. `at` is wall time, ms since 1970. Every record is plain JSON. */
export type JournalRecord = { readonly at: number } & RecordBody

/** A record without its time, which whoever writes it stamps. */
export type RecordBody =
  | {
      readonly type: 'session.begun'
      readonly version: typeof JOURNAL_VERSION
      readonly key: string
      readonly flow: FlowName
      /** What the flow needs to make its protocol again; never a credential. */
      readonly params: Readonly<Record<string, unknown>>
      /** `host:port` of the service that is asked for it. Absent for a protocol of the host's, and in journals of earlier builds. */
      readonly host?: string | undefined
      readonly files: readonly PlannedFile[]
      /** Where each source was found, by file index, to find it again. */
      readonly locations: readonly string[]
    }
  /** A session is asked for. If there is one already, its unfinished files are to go to the new one. */
  | { readonly type: 'session.creating' }
  | {
      readonly type: 'session.created'
      readonly sessionId: string | number
      /** `host:port` of the service that made it: a resume may have been given another than the first run. Absent as above. */
      readonly host?: string | undefined
      readonly files?: readonly AddressedFile[]
      readonly hasPossibleOrphan?: boolean
    }
  /** `isRefused`: the service said no, or never heard of it. What bears these names there is not ours; no resume may overwrite it. */
  | { readonly type: 'files.registering'; readonly fileIndexes: readonly number[]; readonly isRefused?: true }
  | { readonly type: 'files.registered'; readonly files: readonly AddressedFile[] }
  /** The whole body of a unit was handed over and no answer came: the far end may have it, or may get it later. */
  | {
      readonly type: 'part.doubtful'
      readonly fileIndex: number
      readonly partNumber: number
      /**
       * The generation of the file when the attempt began; default 0. If the file has a newer one, the record says nothing any
       * more.
       */
      readonly generation?: number
    }
  | {
      readonly type: 'part.received'
      readonly fileIndex: number
      readonly partNumber: number
      readonly generation?: number
      readonly receipt: Receipt
    }
  /** Receipts that the far end no longer honours: these parts are sent again. None: it was not asked to confirm them after all. */
  | { readonly type: 'parts.voided'; readonly fileIndex: number; readonly partNumbers: readonly number[] }
  | { readonly type: 'file.confirming'; readonly fileIndex: number }
  | {
      readonly type: 'file.confirmed'
      readonly fileIndex: number
      /** SHA-256 of the whole file, 64 hex digits; present where every byte was read again before the confirmation. */
      readonly sha256?: string
    }
  | { readonly type: 'file.failed'; readonly fileIndex: number; readonly error: ErrorSummary }
  /** The addresses died: a new session takes these files, and the receipts that they had are void. */
  | {
      readonly type: 'session.replaced'
      readonly sessionId: string | number
      readonly files: readonly AddressedFile[]
      readonly hasPossibleOrphan?: boolean
    }
  /** Written only when a history is shortened: what all records between the first and this one add up to. */
  | { readonly type: 'session.kept'; readonly standing: SessionStanding; readonly files: readonly KeptFile[] }
  /** The service opened this session with addresses that cannot be used: nobody will upload to it. */
  | { readonly type: 'session.left'; readonly sessionId: string | number }
  /** The service was told that nobody uses this session, which was left empty. */
  | { readonly type: 'session.ended'; readonly sessionId: string | number }
  /** A person asked for the session again: files that had failed are tried once more. */
  | { readonly type: 'session.resumed' }
  /** The create was clearly refused: it left no session behind. */
  | { readonly type: 'session.refused' }
  /** `keepsConfirmed`: what is confirmed stays. Default false: everything is given up. */
  | { readonly type: 'session.cancelling'; readonly keepsConfirmed?: boolean | undefined }
  | { readonly type: 'session.cancelled'; readonly isServiceTold: boolean }
  | { readonly type: 'session.settled'; readonly status: FinalStatus }

/** What a shortened history keeps of all files. */
export type KeptRecord = Extract<JournalRecord, { readonly type: 'session.kept' }>
