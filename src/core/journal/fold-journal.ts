// The pure fold of a session's journal: records, in order, become a ledger and a place to go on from.

import { applyRecord } from './apply-record.ts'
import { UploadError } from '../errors.ts'
import { isSound } from './found-records.ts'
import {
  JOURNAL_VERSION,
  type FinalStatus,
  type FlowName,
  type JournalPlace,
  type JournalRecord,
  type SessionStanding,
} from './journal.ts'
import { restore } from './kept-state.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { unknownVersion } from './record-text.ts'

/** What a journal folds to. */
export interface FoldedJournal extends SessionStanding {
  readonly key: string
  readonly flow: FlowName
  readonly params: Readonly<Record<string, unknown>>
  readonly locations: readonly string[]
  readonly ledger: Ledger
  readonly beganAt: number
}

/**
 * Folds records, in order. Throws ERR_UPLOAD_JOURNAL when the first is not `session.begun`, when its version is another one,
 * and when a record is not what this program writes.
 */
export function foldJournal(records: readonly JournalRecord[]): FoldedJournal {
  const folded = foldFound(records)
  // The run that asked is over, and nobody heard the answer.
  return isAsked(folded) ? { ...folded, hasPossibleOrphan: true } : folded
}

/** The same, as if the run that wrote the records went on. */
export function foldFound(records: readonly JournalRecord[]): FoldedJournal {
  const [begun, ...rest] = records
  if (begun?.type !== 'session.begun') {
    throw new UploadError('ERR_UPLOAD_JOURNAL', 'The journal of this session has no beginning; it cannot be resumed.')
  }
  const { key, version } = begun as { readonly key: string; readonly version: number }
  if (version !== JOURNAL_VERSION) throw unknownVersion(key, String(version), JOURNAL_VERSION)
  if (!isSound(begun)) throw damagedBy(begun)
  const folded = beginFold(begun)
  for (const record of rest) advanceFound(folded, record)
  return folded
}

/** The state right after the beginning. */
export function beginFold(begun: Extract<JournalRecord, { type: 'session.begun' }>): FoldedJournal {
  const { key, flow, params, host, locations, at: beganAt } = begun
  return {
    key,
    flow,
    params,
    host,
    locations,
    beganAt,
    ledger: createLedger(begun.files),
    place: 'new',
    sessionId: undefined,
    leftSessionIds: [],
    isReplacing: false,
    hasPossibleOrphan: false,
    isServiceTold: undefined,
    keepsConfirmed: undefined,
  }
}

/** Applies one more record to a fold, in place: the live session and a resumed one know the same in the same way. */
export function advanceFold(folded: FoldedJournal, record: JournalRecord): void {
  const state: { -readonly [K in keyof FoldedJournal]: FoldedJournal[K] } = folded
  const before = record.type === 'session.replaced' ? sessionsOf(state) : []
  applyRecord(state.ledger, record)
  switch (record.type) {
    case 'session.creating':
      state.hasPossibleOrphan ||= isAsked(state)
      if (state.place === 'created') state.isReplacing = true
      else state.place = 'creating'
      break
    case 'session.refused':
      state.isReplacing = false
      if (state.place === 'creating') state.place = 'new'
      break
    case 'session.created':
      state.place = 'created'
      state.sessionId = record.sessionId
      state.host = record.host ?? state.host
      state.hasPossibleOrphan ||= record.hasPossibleOrphan ?? false
      state.leftSessionIds = without(state.leftSessionIds, record.sessionId)
      break
    case 'session.kept':
      // Earlier builds kept the host with the first record alone.
      restore<SessionStanding>(state, { host: state.host, ...record.standing })
      break
    case 'session.replaced': {
      state.isReplacing = false
      state.hasPossibleOrphan ||= record.hasPossibleOrphan ?? false
      const used = state.ledger.files.map((file) => file.sessionId)
      // If all files that it was made for have failed meanwhile, nobody will use it. Files without a session of their own stay
      // in the one that was created.
      if (used.includes(record.sessionId) && !used.includes(undefined)) state.sessionId = record.sessionId
      used.push(state.sessionId)
      state.leftSessionIds = [...before, record.sessionId].filter((sessionId) => !used.includes(sessionId))
      break
    }
    case 'session.left':
      // A service may give the id of the session that is in use: that one is not left.
      if (!sessionsOf(state).includes(record.sessionId)) {
        state.leftSessionIds = [...state.leftSessionIds, record.sessionId]
      }
      break
    case 'session.ended':
      state.leftSessionIds = without(state.leftSessionIds, record.sessionId)
      break
    case 'session.resumed':
      if (state.place === 'partial' || state.place === 'failed')
        state.place = state.sessionId === undefined ? 'new' : 'created'
      break
    case 'session.cancelling':
      endAsking(state)
      state.place = 'cancelling'
      state.keepsConfirmed =
        (record.keepsConfirmed && state.ledger.files.some((file) => file.mayBeConfirmed)) || undefined
      break
    case 'session.cancelled':
      state.isServiceTold = record.isServiceTold
      if (record.isServiceTold) state.leftSessionIds = []
      state.place = 'cancelled'
      break
    case 'session.settled':
      endAsking(state)
      state.place = record.status
      break
    default:
  }
}

/** How the session ended; undefined while it has not. */
export function finalStatusOf(place: JournalPlace): FinalStatus | undefined {
  return place === 'new' || place === 'creating' || place === 'created' || place === 'cancelling' ? undefined : place
}

/** Whether a cancel was asked for, even if the service could not be told. */
export function isGivenUp({ place }: FoldedJournal): boolean {
  return place === 'cancelling' || place === 'cancelled'
}

/**
 * Whether confirmed files were given up too: the service has removed them, or will once it can be told. Who trusts in them may erase
 * the last copy. A capture's stay.
 */
export function givesUpConfirmed(folded: FoldedJournal): boolean {
  return isGivenUp(folded) && folded.flow === 'video' && !folded.keepsConfirmed
}

/** Whether a create was asked for whose result is not known: if nothing more is heard of it, it may have made a session. */
export function isAsked({ place, isReplacing }: FoldedJournal): boolean {
  return place === 'creating' || isReplacing
}

function endAsking(state: { -readonly [K in keyof FoldedJournal]: FoldedJournal[K] }): void {
  state.hasPossibleOrphan ||= isAsked(state)
  state.isReplacing = false
}

/**
 * Every session of the service that the upload has to answer for: the newest, those with files, and those that were left and
 * not ended. When the upload was given up except for what was confirmed, sessions that hold a file which is or may be confirmed
 * are left out. `keepsConfirmed`: whether it was, where the journal could not keep that.
 */
export function sessionsOf(
  folded: FoldedJournal | undefined,
  keepsConfirmed = folded?.keepsConfirmed,
): (string | number)[] {
  if (!folded) return []
  const { sessionId, ledger, leftSessionIds } = folded
  const known = new Set([sessionId, ...ledger.files.map((file) => file.sessionId), ...leftSessionIds])
  for (const file of ledger.files) if (keepsConfirmed && file.mayBeConfirmed) known.delete(file.sessionId ?? sessionId)
  return [...known].filter((id) => id !== undefined)
}

function without(ids: readonly (string | number)[], gone: string | number): readonly (string | number)[] {
  return ids.filter((id) => id !== gone)
}

/** A found record that does not fit the plan is damage of the journal, not a mistake of the program that reads it. */
export function advanceFound(folded: FoldedJournal, record: JournalRecord): void {
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
