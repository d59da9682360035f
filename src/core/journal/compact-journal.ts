// The shortest list of records that folds to the same state: what a journal keeps of its history when it is rewritten.

import { foldFound } from './fold-journal.ts'
import type { JournalRecord, SessionStanding } from './journal.ts'
import { keptFileOf, keptOf } from './kept-state.ts'

/**
 * Two records that fold to exactly what `records` fold to; `records` itself when either cannot be folded, or when nothing gets
 * shorter.
 */
export function compactRecords(records: readonly JournalRecord[]): readonly JournalRecord[] {
  const [begun, ...rest] = records
  const last = rest.at(-1)
  if (begun === undefined || last === undefined || rest.length === 1) return records
  try {
    const folded = foldFound(records)
    const files = folded.ledger.files.map(keptFileOf)
    const kept: JournalRecord = { type: 'session.kept', at: last.at, standing: keptOf<SessionStanding>(folded), files }
    // What somebody wrote by hand may be readable in many records but not in this one. Then it stays as it is.
    foldFound([begun, kept])
    return [begun, kept]
  } catch {
    // A journal that does not fold is reported to whoever resumes it, from the records as they are.
    return records
  }
}
