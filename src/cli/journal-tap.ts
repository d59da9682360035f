// A journal in memory whose records can be read while a session is open: what the CLI knows when it is interrupted.

import { foldJournal, type FoldedJournal, type JournalRecord } from '../core/journal.ts'
import type { Journal } from '../core/ports.ts'
import { memoryJournal } from '../node.ts'

export interface JournalTap {
  readonly journal: Journal
  /** What the session's records say by now; undefined before its first one. */
  folded(key: string): FoldedJournal | undefined
}

export function tapJournal(journal: Journal = memoryJournal()): JournalTap {
  // By reference, not copied again: bounded by what the journal itself keeps.
  const seen = new Map<string, JournalRecord[]>()
  return {
    journal: {
      async open(key) {
        const session = await journal.open(key)
        const records = [...session.records]
        seen.set(key, records)
        return {
          ...{ key, records: session.records },
          async append(more) {
            await session.append(more)
            for (const record of more) records.push(record)
          },
          close: () => session.close(),
        }
      },
      read: (key) => journal.read(key),
      list: () => journal.list(),
      remove: (key) => journal.remove(key),
    },
    folded(key) {
      const records = seen.get(key)
      return records === undefined || records.length === 0 ? undefined : foldJournal(records)
    },
  }
}
