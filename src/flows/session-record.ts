// One session's truth while it is driven: its journal, and the ledger that is its fold. A record is durable before it is
// applied, so that nothing is ever known only in memory.

import { advanceFold, beginFold, foldJournal, type FoldedJournal, type JournalRecord } from '../core/journal.ts'
import type { Ledger } from '../core/ledger.ts'
import { invariant } from '../core/errors.ts'
import type { Clock, Journal, SessionJournal } from '../core/ports.ts'
import type { RecordBody } from '../core/transfer-job.ts'

export interface SessionRecord {
  readonly key: string
  /** What the journal says; undefined until the session has begun. */
  folded(): FoldedJournal | undefined
  ledger(): Ledger
  sessionId(): string | number
  /** Makes a record durable, then applies it, in the order of the calls: the live ledger is the fold of the journal. */
  write(body: RecordBody): Promise<void>
  close(): Promise<void>
}

/**
 * `resumed` is an opened journal with the history of an earlier life; without it the journal is opened with the first record,
 * so that an upload that never began leaves no trace.
 */
export function createSessionRecord(
  journal: Journal,
  clock: Clock,
  key: string,
  resumed?: SessionJournal,
): SessionRecord {
  let opened = resumed === undefined ? undefined : Promise.resolve(resumed)
  let session = resumed
  let folded = resumed === undefined ? undefined : foldJournal(resumed.records)
  /** Some records settle before others that were appended earlier: those that need not wait for the disk. */
  let applied: Promise<unknown> = Promise.resolve()

  const open = (): Promise<SessionJournal> => (opened ??= journal.open(key))
  const apply = async (record: JournalRecord, appended: Promise<void>, before: Promise<unknown>): Promise<void> => {
    try {
      await appended
    } finally {
      await before
    }
    if (record.type === 'session.begun') folded = beginFold(record)
    else if (folded !== undefined) advanceFold(folded, record)
  }
  return {
    key,
    folded: () => folded,
    ledger() {
      invariant(folded !== undefined, 'a session has a ledger once it has begun')
      return folded.ledger
    },
    sessionId() {
      invariant(folded?.sessionId !== undefined, 'a session is used only after it was created')
      return folded.sessionId
    },
    async write(body) {
      const record = { ...body, at: clock.wallNow() } as JournalRecord
      session ??= await open()
      const appended = session.append([record])
      const turn = apply(record, appended, applied)
      applied = turn.catch(() => undefined)
      await turn
    },
    async close() {
      const last = await opened?.catch(() => undefined)
      opened = undefined
      session = undefined
      await last?.close()
    },
  }
}
