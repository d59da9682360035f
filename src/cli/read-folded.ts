// Reads what the journal says of a session that was listed a moment ago.

import { foldJournal, type FoldedJournal } from '../core/journal/fold-journal.ts'
import type { JournalRecord } from '../core/journal/journal.ts'
import type { Journal } from '../core/ports.ts'

export interface FoldedRecords {
  readonly records: readonly JournalRecord[]
  readonly folded: FoldedJournal
}

/**
 * Undefined if it cannot be read, such as one that another process has removed meanwhile: it then fails alone when it is resumed. The
 * other sessions must not fail with it.
 */
export async function readFolded(journal: Pick<Journal, 'read'>, key: string): Promise<FoldedRecords | undefined> {
  try {
    const records = await journal.read(key)
    return { records, folded: foldJournal(records) }
  } catch {
    return undefined
  }
}
