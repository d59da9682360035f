// One session's truth while it is driven: its journal, and the ledger that is its fold. A record is durable before it is
// applied, so that nothing is ever known only in memory.

import type { FoldedJournal, JournalRecord } from '../core/journal.ts'
import { foldJournal } from '../core/journal.ts'
import { applyRecord, type Ledger } from '../core/ledger.ts'
import { invariant } from '../core/errors.ts'
import type { Clock, Journal, SessionJournal } from '../core/ports.ts'
import type { RecordBody } from '../core/transfer-job.ts'

export interface SessionRecord {
  readonly key: string
  /** What the journal says; undefined until the session has begun. */
  folded(): FoldedJournal | undefined
  ledger(): Ledger
  sessionId(): string | number
  /** A create had no clear answer: a session that nobody uses may exist at the service. */
  hasPossibleOrphan(): boolean
  /** Makes a record durable, then applies it. */
  write(body: RecordBody): Promise<void>
  close(): Promise<void>
}

/** The journal is opened with the first record, so that an upload that never began leaves no trace. */
export function createSessionRecord(journal: Journal, clock: Clock, key: string): SessionRecord {
  let opened: Promise<SessionJournal> | undefined
  let folded: FoldedJournal | undefined
  let sessionId: string | number | undefined
  let hasPossibleOrphan = false

  const open = (): Promise<SessionJournal> => (opened ??= journal.open(key))
  return {
    key,
    folded: () => folded,
    ledger() {
      invariant(folded !== undefined, 'a session has a ledger once it has begun')
      return folded.ledger
    },
    sessionId() {
      invariant(sessionId !== undefined, 'a session is used only after it was created')
      return sessionId
    },
    hasPossibleOrphan: () => hasPossibleOrphan,
    async write(body) {
      const record = { ...body, at: clock.wallNow() } as JournalRecord
      await (await open()).append([record])
      if (record.type === 'session.begun') folded = foldJournal([record])
      else if (folded !== undefined) applyRecord(folded.ledger, record)
      if (record.type !== 'session.created') return
      sessionId = record.sessionId
      hasPossibleOrphan ||= record.hasPossibleOrphan ?? false
    },
    async close() {
      const session = await opened?.catch(() => undefined)
      opened = undefined
      await session?.close()
    },
  }
}
