// The shortest list of records that folds to the same state: what a journal keeps of its history when it is rewritten.
// Every rewrite is folded and compared before it is believed. A history that no session of ours writes (a file that is
// ready though it has no address) may not be expressible in this way; it is kept as it is.

import { foldJournal, type FoldedJournal, type JournalRecord } from './journal.ts'
import type { LedgerFile } from './ledger.ts'
import type { AddressedFile } from './ports.ts'

type RecordType = JournalRecord['type']
type RecordOf<T extends RecordType> = Extract<JournalRecord, { readonly type: T }>
/** The newest record of a type (for a file, for a part), so that what is kept keeps its time and its error. */
type Newest = <T extends RecordType>(type: T, fileIndex?: number, partNumber?: number) => RecordOf<T> | undefined

/** Records that fold to exactly what `records` fold to; `records` itself when they cannot be folded or shortened. */
export function compactRecords(records: readonly JournalRecord[]): readonly JournalRecord[] {
  try {
    const folded = foldJournal(records)
    const shorter = write(folded, newestOf(records))
    return shorter.length < records.length && isSame(foldJournal(shorter), folded) ? shorter : records
  } catch {
    // A journal that does not fold is reported to whoever resumes it, from the records as they are.
    return records
  }
}

function newestOf(records: readonly JournalRecord[]): Newest {
  const newest = new Map<string, JournalRecord>()
  for (const record of records) {
    const fileIndex = 'fileIndex' in record ? record.fileIndex : undefined
    const partNumber = 'partNumber' in record ? record.partNumber : undefined
    newest.set(placeName(record.type, fileIndex, partNumber), record)
  }
  return <T extends RecordType>(type: T, fileIndex?: number, partNumber?: number) =>
    newest.get(placeName(type, fileIndex, partNumber)) as RecordOf<T> | undefined
}

function placeName(type: RecordType, fileIndex: number | undefined, partNumber: number | undefined): string {
  return `${type} ${String(fileIndex)} ${String(partNumber)}`
}

function write(folded: FoldedJournal, newest: Newest): JournalRecord[] {
  const begun = newest('session.begun')
  const asked = newest('files.registering')
  const fileIndexes = [...folded.registeringIndexes]
  return [
    ...(begun === undefined ? [] : [begun]),
    ...createRecords(folded, newest),
    ...folded.ledger.files.flatMap((file, fileIndex) => fileRecords(file, fileIndex, newest)),
    ...(asked === undefined || fileIndexes.length === 0 ? [] : [{ ...asked, fileIndexes }]),
    ...endRecords(folded, newest),
  ]
}

/** The session's id and every file's newest addresses, however many records they came in. */
function createRecords(folded: FoldedJournal, newest: Newest): JournalRecord[] {
  const { sessionId, hasPossibleOrphan, place } = folded
  const creating = newest('session.creating')
  const created = newest('session.created')
  const at = created?.at ?? folded.beganAt
  const files = folded.ledger.files.flatMap((file, fileIndex) => addressedFile(file, fileIndex))
  if (created !== undefined && sessionId !== undefined) {
    const orphan = hasPossibleOrphan && place !== 'creating' ? { hasPossibleOrphan } : {}
    return [{ type: 'session.created', at, sessionId, ...(files.length === 0 ? {} : { files }), ...orphan }]
  }
  return [
    // Asking twice is what leaves a possible orphan behind when no answer is on record.
    ...(creating !== undefined && hasPossibleOrphan && place !== 'creating' ? [creating, creating] : []),
    ...(files.length === 0 ? [] : [{ type: 'files.registered', at, files } as const]),
  ]
}

function addressedFile({ addresses, serverFileId }: LedgerFile, fileIndex: number): AddressedFile[] {
  if (addresses.length === 0) return []
  return [{ fileIndex, addresses, ...(serverFileId === undefined ? {} : { serverFileId }) }]
}

function fileRecords(file: LedgerFile, fileIndex: number, newest: Newest): JournalRecord[] {
  const kept: (JournalRecord | undefined)[] = []
  for (const part of file.parts) {
    if (part.receipt !== undefined) kept.push(newest('part.received', fileIndex, part.partNumber))
    if (part.isDoubtful) kept.push(newest('part.doubtful', fileIndex, part.partNumber))
  }
  if (file.error !== undefined) kept.push(newest('file.failed', fileIndex))
  if (file.state === 'confirming') kept.push(newest('file.confirming', fileIndex))
  if (file.state === 'confirmed') kept.push(newest('file.confirmed', fileIndex))
  return kept.filter((record) => record !== undefined)
}

/** Where the session's life goes on, as far as the records before have not said it. */
function endRecords({ place, isServiceTold }: FoldedJournal, newest: Newest): JournalRecord[] {
  const kept: (JournalRecord | undefined)[] = []
  if (isServiceTold !== undefined) kept.push(newest('session.cancelled'))
  if (place === 'creating') kept.push(newest('session.creating'))
  else if (place === 'cancelling') kept.push(newest('session.cancelling'))
  else if (place !== 'new' && place !== 'created') kept.push(newest('session.settled'))
  return kept.filter((record) => record !== undefined)
}

function isSame(one: FoldedJournal, other: FoldedJournal): boolean {
  return asText(one) === asText(other)
}

/** Every field of the state, in one order; a fold holds nothing that JSON would not show. */
function asText(folded: FoldedJournal): string {
  return JSON.stringify({ ...folded, registeringIndexes: [...folded.registeringIndexes] })
}
