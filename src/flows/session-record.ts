// The truth about one session while it is driven: its journal, and the ledger folded from it. A record is durable before it is
// applied, so that nothing is ever known in memory only.

import { advanceFold, beginFold, foldJournal, type FoldedJournal } from '../core/journal/fold-journal.ts'
import type { JournalRecord, RecordBody } from '../core/journal/journal.ts'
import { createLedger, type Ledger, type LedgerFile } from '../core/journal/ledger.ts'
import { known } from '../core/errors.ts'
import type { Clock, Journal, SessionJournal } from '../core/ports.ts'

export interface SessionRecord {
  readonly key: string
  /** The folded journal; undefined until the session has begun. */
  folded(): FoldedJournal | undefined
  /** What is known of its files: of none before it has begun. */
  ledger(): Ledger
  /** The session of the service that holds a file. */
  sessionOf(file: LedgerFile): string | number
  /**
   * Makes a record durable, and `next` with it or neither, then applies them, in the order of the calls, so that the live ledger is
   * always the fold of the journal. Returns undefined if both are done already.
   */
  write(body: RecordBody, next?: RecordBody): Promise<void> | undefined
  close(): Promise<void>
}

const NO_FILES = /* @__PURE__ */ createLedger([])

/**
 * `resumed` is an opened journal with the history of an earlier run. Without it the journal is opened at the first record, so that
 * an upload that never began leaves no trace.
 */
export function createSessionRecord(
  journal: Journal,
  clock: Clock,
  key: string,
  resumed?: SessionJournal,
): SessionRecord {
  let opened = resumed && Promise.resolve(resumed)
  let session = resumed
  let folded = resumed && foldJournal(resumed.records)
  /** Keeps the order: a record that need not wait for the disk settles before others that were appended earlier. */
  let applied: Promise<unknown> = Promise.resolve()
  let applyingCount = 0

  const apply = (record: JournalRecord): void => {
    if (record.type === 'session.begun') folded = beginFold(record)
    else if (folded) advanceFold(folded, record)
  }
  // The type comes first, so that records of one kind share a hidden class (see ledgerFile). A spread would take twice as long.
  const recordOf = (body: RecordBody): JournalRecord =>
    Object.assign({ type: body.type }, body, { at: clock.wallNow() })
  const applyInTurn = async (records: readonly JournalRecord[], appended: Promise<void> | undefined): Promise<void> => {
    const before = applied
    applyingCount += 1
    try {
      await appended
    } finally {
      await before
      applyingCount -= 1
    }
    records.forEach(apply)
  }
  const writeTo = (journalled: SessionJournal, records: readonly JournalRecord[]): Promise<void> | undefined => {
    const appended = journalled.append(records)
    if (appended === undefined && applyingCount === 0) {
      records.forEach(apply)
      return undefined
    }
    const turn = applyInTurn(records, appended)
    applied = turn.catch(() => undefined)
    return turn
  }
  const openAndWrite = async (records: readonly JournalRecord[]): Promise<void> => {
    session ??= await (opened ??= journal.open(key))
    await writeTo(session, records)
  }
  return {
    key,
    folded: () => folded,
    ledger: () => folded?.ledger ?? NO_FILES,
    sessionOf: (file) => known(file.sessionId ?? folded?.sessionId),
    write(body, next) {
      // Most are written one by one, for each part and file.
      const records = next ? [recordOf(body), recordOf(next)] : [recordOf(body)]
      return session ? writeTo(session, records) : openAndWrite(records)
    },
    async close() {
      const last = await opened?.catch(() => undefined)
      opened = undefined
      session = undefined
      await last?.close()
    },
  }
}
