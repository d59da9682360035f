// The only durable truth.

import type { JournalRecord } from '../journal/journal.ts'

/** Stores sessions by key, each as a list of records. Opening one takes a lease: nobody else drives that session meanwhile. */
export interface Journal {
  /** Rejects with ERR_UPLOAD_JOURNAL while the key is open, here or in another process; the message names the key. */
  open(key: string): Promise<SessionJournal>
  /** The records as they are now, without a lease: for looking, even while another process drives the session. */
  read(key: string): Promise<readonly JournalRecord[]>
  /** Keys of all sessions that have a record, oldest first. */
  list(): Promise<readonly string[]>
  /** Removes a session; does nothing for an unknown key. Rejects with ERR_UPLOAD_JOURNAL while the key is open. */
  remove(key: string): Promise<void>
}

/** One session's records, open to whoever holds its lease. */
export interface SessionJournal {
  readonly key: string
  /** The records found at opening, in order. */
  readonly records: readonly JournalRecord[]
  /**
   * Appends in call order. Resolves when the records are as durable as the journal promises for their types. Undefined: they
   * are already, and so is everything that was appended before. Rejects with ERR_UPLOAD_JOURNAL after `close`.
   */
  append(records: readonly JournalRecord[]): Promise<void> | undefined
  /** Gives the lease back. Idempotent; appends before it are kept. */
  close(): Promise<void>
}
