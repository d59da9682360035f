// What a session's journal says, and the pure fold that turns it into a ledger and a place to go on from.
// The write order is: intent, call, result. A record is appended before the next step that relies on it. Addresses are
// in here, because a video session cannot be asked for them again; that is why a journal on disk is for its owner's
// eyes only.

import { UploadError, type ErrorSummary } from '../errors.ts'
import { isSound } from './found-records.ts'
import { applyRecord, createLedger, type Ledger } from './ledger.ts'
import type { AddressedFile, PlannedFile, Receipt } from '../ports.ts'

/** Version of the record types. A journal with another one is refused, never guessed. */
export const JOURNAL_VERSION = 1

/** `custom`: a protocol that the host brings. */
export type FlowName = 'video' | 'capture' | 'custom'
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
      /** Only in a history that was shortened: see FoldedJournal. */
      readonly leftSessionIds?: readonly (string | number)[]
    }
  | { readonly type: 'files.registering'; readonly fileIndexes: readonly number[] }
  | { readonly type: 'files.registered'; readonly files: readonly AddressedFile[] }
  /** The whole body of a unit was handed over and no answer came: the far end may have it, also later. */
  | {
      readonly type: 'part.doubtful'
      readonly fileIndex: number
      readonly partNumber: number
      /** Of the file when the attempt began; default 0. Of an earlier generation it says nothing any more. */
      readonly generation?: number
    }
  | {
      readonly type: 'part.received'
      readonly fileIndex: number
      readonly partNumber: number
      readonly generation?: number
      readonly receipt: Receipt
    }
  /** Receipts that the far end no longer honours: these parts are sent again. */
  | { readonly type: 'parts.voided'; readonly fileIndex: number; readonly partNumbers: readonly number[] }
  | { readonly type: 'file.confirming'; readonly fileIndex: number }
  | {
      readonly type: 'file.confirmed'
      readonly fileIndex: number
      /** Of the whole file, 64 hex digits; where every byte was read again before the confirmation. */
      readonly sha256?: string
    }
  | { readonly type: 'file.failed'; readonly fileIndex: number; readonly error: ErrorSummary }
  /** The addresses died: a new session takes these files, and what they had of receipts is void. */
  | { readonly type: 'session.replaced'; readonly sessionId: string | number; readonly files: readonly AddressedFile[] }
  /** Written only when a history is shortened: what it says of these files' places, `at` the time their addresses came. */
  | {
      readonly type: 'files.placed'
      readonly sessionId?: string | number
      readonly generation: number
      readonly files: readonly AddressedFile[]
    }
  /** The service opened this session with addresses that cannot be used: nobody will upload to it. */
  | { readonly type: 'session.left'; readonly sessionId: string | number }
  /** The service was told that nobody uses this session, which was left empty. */
  | { readonly type: 'session.ended'; readonly sessionId: string | number }
  /** A person asked for the session again: files that had failed are tried once more. */
  | { readonly type: 'session.resumed' }
  /** The create was answered with a clear no: it left no session behind. */
  | { readonly type: 'session.refused' }
  | { readonly type: 'session.cancelling' }
  | { readonly type: 'session.cancelled'; readonly isServiceTold: boolean }
  | { readonly type: 'session.settled'; readonly status: FinalStatus; readonly error?: ErrorSummary }
)

/** Where a session's life goes on: nothing asked yet, a create without its result, open, being cancelled, or over. */
export type JournalPlace = 'new' | 'creating' | 'created' | 'cancelling' | FinalStatus

/** What a journal folds to. */
export interface FoldedJournal {
  readonly key: string
  readonly flow: FlowName
  readonly params: Readonly<Record<string, unknown>>
  readonly locations: readonly string[]
  readonly place: JournalPlace
  readonly sessionId: string | number | undefined
  /** Sessions that no file is in any more, or ever was, and of which the service is not known to have been told. */
  readonly leftSessionIds: readonly (string | number)[]
  readonly ledger: Ledger
  /** Files whose registration was asked for without a result: the far end may know their names already. */
  readonly registeringIndexes: ReadonlySet<number>
  /** A create was asked for more than once, or without a result: an unused session may exist at the far end. */
  readonly hasPossibleOrphan: boolean
  readonly isServiceTold: boolean | undefined
  readonly beganAt: number
}

/**
 * Folds records, in order. The first is `session.begun`; another version, a missing beginning and a record that is not what this
 * program writes are ERR_UPLOAD_JOURNAL.
 */
export function foldJournal(records: readonly JournalRecord[]): FoldedJournal {
  const [begun, ...rest] = records
  if (begun?.type !== 'session.begun') {
    throw new UploadError('ERR_UPLOAD_JOURNAL', 'The journal of this session has no beginning; it cannot be resumed.')
  }
  checkVersion(begun.version)
  if (!isSound(begun)) throw damagedBy(begun)
  const folded = beginFold(begun)
  for (const record of rest) advanceFound(folded, record)
  // The life that asked is over, and nobody heard the answer.
  return folded.place === 'creating' ? { ...folded, hasPossibleOrphan: true } : folded
}

/** The state right after the beginning. */
export function beginFold(begun: Extract<JournalRecord, { type: 'session.begun' }>): FoldedJournal {
  checkVersion(begun.version)
  const { key, flow, params, locations, at: beganAt } = begun
  return {
    key,
    ...{ flow, params, locations, beganAt, ledger: createLedger(begun.files), registeringIndexes: new Set() },
    ...{ place: 'new', sessionId: undefined, leftSessionIds: [], hasPossibleOrphan: false, isServiceTold: undefined },
  }
}

/** Takes one more record into a fold, in place: the live session and a resumed one know the same in the same way. */
export function advanceFold(folded: FoldedJournal, record: JournalRecord): void {
  const state: { -readonly [K in keyof FoldedJournal]: FoldedJournal[K] } = folded
  const registering = state.registeringIndexes as Set<number>
  const before = record.type === 'session.replaced' ? sessionsOf(state) : []
  applyRecord(state.ledger, record)
  switch (record.type) {
    case 'session.creating':
      state.hasPossibleOrphan ||= state.place === 'creating'
      state.place = 'creating'
      break
    case 'session.refused':
      if (state.place === 'creating') state.place = 'new'
      break
    case 'session.created':
      state.place = 'created'
      state.sessionId = record.sessionId
      state.hasPossibleOrphan ||= record.hasPossibleOrphan ?? false
      state.leftSessionIds = record.leftSessionIds ?? without(state.leftSessionIds, record.sessionId)
      break
    case 'files.registering':
      for (const fileIndex of record.fileIndexes) registering.add(fileIndex)
      break
    case 'files.registered':
      for (const { fileIndex } of record.files) registering.delete(fileIndex)
      break
    case 'session.replaced': {
      state.sessionId = record.sessionId
      const used = new Set([record.sessionId, ...state.ledger.files.map((file) => file.sessionId)])
      state.leftSessionIds = before.filter((sessionId) => !used.has(sessionId))
      break
    }
    case 'session.left':
      // A service may give the id of the one that is in use: that is not left.
      if (!sessionsOf(state).includes(record.sessionId))
        state.leftSessionIds = [...state.leftSessionIds, record.sessionId]
      break
    case 'session.ended':
      state.leftSessionIds = without(state.leftSessionIds, record.sessionId)
      break
    case 'session.resumed':
      if (state.place === 'partial' || state.place === 'failed')
        state.place = state.sessionId === undefined ? 'new' : 'created'
      break
    case 'session.cancelling':
      state.place = 'cancelling'
      break
    case 'session.cancelled':
      state.isServiceTold = record.isServiceTold
      if (record.isServiceTold) state.leftSessionIds = []
      state.place = 'cancelled'
      break
    case 'session.settled':
      state.place = record.status
      break
    default:
  }
}

/** Every session of the service that the upload has to answer for: the newest, those with files, those left and not ended. */
export function sessionsOf(folded: FoldedJournal | undefined): (string | number)[] {
  if (folded === undefined) return []
  const { sessionId, ledger, leftSessionIds } = folded
  const known = [sessionId, ...ledger.files.map((file) => file.sessionId), ...leftSessionIds]
  return [...new Set(known.filter((id) => id !== undefined))]
}

function without(ids: readonly (string | number)[], gone: string | number): readonly (string | number)[] {
  return ids.filter((id) => id !== gone)
}

/** A record that was found and does not fit the plan is the journal's damage, not a mistake of the program that reads it. */
function advanceFound(folded: FoldedJournal, record: JournalRecord): void {
  if (!isSound(record)) throw damagedBy(record)
  try {
    advanceFold(folded, record)
  } catch (cause) {
    throw damagedBy(record, cause)
  }
}

function damagedBy({ type }: JournalRecord, cause?: unknown): UploadError {
  const message = `The journal of this session is damaged: a record of type ${type} does not fit its files. It cannot be resumed.`
  return new UploadError('ERR_UPLOAD_JOURNAL', message, { cause })
}

function checkVersion(version: number): void {
  if (version === JOURNAL_VERSION) return
  throw new UploadError(
    'ERR_UPLOAD_JOURNAL',
    `The journal of this session has version ${version}; this program reads version ${JOURNAL_VERSION}. Finish it with the program that began it.`,
  )
}
