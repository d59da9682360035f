// The shortest list of records that folds to the same state: what a journal keeps of its history when it is rewritten.
// Every rewrite is folded and compared before it is believed. A history that no session of ours writes (a file that is
// ready though it has no address) may not be expressible in this way; it is kept as it is.

import { given } from '../given.ts'
import { foldJournal, type FoldedJournal } from './fold-journal.ts'
import type { JournalRecord } from './journal.ts'
import { isReceived, type LedgerFile } from './ledger.ts'
import type { AddressedFile } from '../ports.ts'

type RecordType = JournalRecord['type']
type RecordOf<T extends RecordType> = Extract<JournalRecord, { readonly type: T }>
/** The newest record of a type (for a file, for a part), so that what is kept keeps its time and its error. */
type Newest = <T extends RecordType>(type: T, fileIndex?: number, partNumber?: number) => RecordOf<T> | undefined
/** Undefined: nothing is left to say of it. */
type Kept = JournalRecord | undefined

/** What a record speaks of: a file, a part, or the session. */
interface Subject {
  readonly type: RecordType
  readonly fileIndex?: number
  readonly partNumber?: number
  readonly generation?: number
}

/** Records that fold to exactly what `records` fold to; `records` itself when they cannot be folded or shortened. */
export function compactRecords(records: readonly JournalRecord[]): readonly JournalRecord[] {
  try {
    const folded = foldJournal(records)
    const shorter = write(folded, newestOf(records, folded))
    return shorter.length < records.length && isSame(foldJournal(shorter), folded) ? shorter : records
  } catch {
    // A journal that does not fold is reported to whoever resumes it, from the records as they are.
    return records
  }
}

/** Words about a part from before its file went to another session say nothing of it any more. */
function newestOf(records: readonly JournalRecord[], { ledger }: FoldedJournal): Newest {
  const newest = new Map<string, JournalRecord>()
  for (const record of records) {
    const { type, fileIndex = -1, partNumber, generation = 0 }: Subject = record
    if (partNumber !== undefined && generation !== ledger.files[fileIndex]?.generation) continue
    newest.set(subjectName(type, fileIndex, partNumber), record)
  }
  return <T extends RecordType>(type: T, fileIndex = -1, partNumber?: number) =>
    newest.get(subjectName(type, fileIndex, partNumber)) as RecordOf<T> | undefined
}

function subjectName(type: RecordType, fileIndex: number, partNumber: number | undefined): string {
  return `${type} ${fileIndex} ${partNumber}`
}

function write(folded: FoldedJournal, newest: Newest): JournalRecord[] {
  const { files } = folded.ledger
  const kept: Kept[] = [
    newest('session.begun'),
    ...createRecords(folded, newest),
    ...placeRecords(files),
    ...files.flatMap((file, fileIndex) => partRecords(file, fileIndex, newest)),
    ...doubtRecords(folded, newest),
    ...files.flatMap((file, fileIndex) => fileRecords(file, fileIndex, newest)),
    registeringRecord(folded, newest),
    ...endRecords(folded, newest),
  ]
  return kept.filter((record) => record !== undefined)
}

/** The session's id, or that it was asked for without an answer on record. */
function createRecords(folded: FoldedJournal, newest: Newest): Kept[] {
  const { sessionId, leftSessionIds, hasPossibleOrphan, place } = folded
  const creating = newest('session.creating')
  const created = newest('session.created')
  const isOrphanKnown = hasPossibleOrphan && place !== 'creating'
  if (created !== undefined && sessionId !== undefined) {
    const { type, at } = created
    const left = leftSessionIds.length === 0 ? {} : { leftSessionIds }
    return [{ type, at, sessionId, ...(isOrphanKnown ? { hasPossibleOrphan } : {}), ...left }]
  }
  const newestLeft = newest('session.left')
  const left = leftSessionIds.map((id): Kept => newestLeft && { ...newestLeft, sessionId: id })
  // Asking twice is what leaves a possible orphan behind when no answer is on record.
  return isOrphanKnown ? [creating, creating, ...left, newest('session.refused')] : left
}

/** Every file's newest addresses, however many records they came in: one record for all that stand in the same place. */
function placeRecords(files: readonly LedgerFile[]): JournalRecord[] {
  const places = new Map<string, { readonly of: LedgerFile; readonly files: AddressedFile[] }>()
  files.forEach((file, fileIndex) => {
    const { addresses, serverFileId } = file
    if (addresses.length === 0) return
    const name = JSON.stringify([file.sessionId, file.generation, file.addressedAtMs])
    const place = places.get(name) ?? { of: file, files: [] }
    place.files.push({ fileIndex, addresses, ...given({ serverFileId }) })
    places.set(name, place)
  })
  return [...places.values()].map(({ of: { sessionId, generation, addressedAtMs: at }, files: placed }) => ({
    type: 'files.placed',
    at,
    generation,
    files: placed,
    ...given({ sessionId }),
  }))
}

function partRecords(file: LedgerFile, fileIndex: number, newest: Newest): Kept[] {
  const withReceipt = file.parts.filter((part) => part.receipt !== undefined)
  return withReceipt.map(({ partNumber }) => newest('part.received', fileIndex, partNumber))
}

/** A resume doubts all that is missing; one record says so for ten thousand parts, where it says no more than is so. */
function doubtRecords({ ledger }: FoldedJournal, newest: Newest): JournalRecord[] {
  const resumed = newest('session.resumed')
  const open = ledger.files.filter((file) => file.addresses.length > 0 && file.receivedCount < file.parts.length)
  const isMissingDoubted = open.every((file) => file.parts.every((part) => isReceived(part) || part.isDoubtful))
  const isResumeKept = resumed !== undefined && open.length > 0 && isMissingDoubted
  const single = ledger.files.flatMap(({ plan: { fileIndex }, parts, generation }) =>
    parts
      .filter((part) => part.isDoubtful && !(isResumeKept && !isReceived(part)))
      .map(({ partNumber }): JournalRecord => {
        const at = resumed?.at ?? 0
        const doubted = { type: 'part.doubtful', at, fileIndex, partNumber, generation } as const
        return newest('part.doubtful', fileIndex, partNumber) ?? doubted
      }),
  )
  return isResumeKept ? [resumed, ...single] : single
}

function fileRecords(file: LedgerFile, fileIndex: number, newest: Newest): Kept[] {
  return [
    file.mayBeConfirmed && file.state !== 'confirmed' ? newest('file.confirming', fileIndex) : undefined,
    file.error === undefined ? undefined : newest('file.failed', fileIndex),
    newest('file.confirmed', fileIndex),
  ]
}

/** The names that are still asked for. */
function registeringRecord({ registeringIndexes }: FoldedJournal, newest: Newest): Kept {
  const asked = newest('files.registering')
  return asked && registeringIndexes.size > 0 ? { ...asked, fileIndexes: [...registeringIndexes] } : undefined
}

/** Where the session's life goes on, as far as the records before have not said it. */
function endRecords({ place, isReplacing, keepsConfirmed }: FoldedJournal, newest: Newest): Kept[] {
  const settled = newest('session.settled')
  return [
    place === 'cancelling' || keepsConfirmed ? newest('session.cancelling') : undefined,
    newest('session.cancelled'),
    place === 'creating' || isReplacing ? newest('session.creating') : undefined,
    // An older one may have said something else: a session that was partial, and was then given up.
    settled?.status === place ? settled : undefined,
  ]
}

function isSame(one: FoldedJournal, other: FoldedJournal): boolean {
  return asText(one) === asText(other)
}

/** Every field of the state, in one order; a fold holds nothing that JSON would not show. */
function asText(folded: FoldedJournal): string {
  return JSON.stringify({ ...folded, registeringIndexes: [...folded.registeringIndexes] })
}
