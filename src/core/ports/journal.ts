// The only durable truth.

import type { JournalRecord } from '../journal/journal.ts'

/** Sessions under a key, each a list of records. Opening takes a lease: nobody else drives that session meanwhile. */
export interface Journal {
  open(key: string): Promise<SessionJournal>
  /** The records as they are now, without a lease: for looking, also while another process drives the session. */
  read(key: string): Promise<readonly JournalRecord[]>
  /** Keys of all sessions, oldest first. */
  list(): Promise<readonly string[]>
  remove(key: string): Promise<void>
}

export interface SessionJournal {
  readonly key: string
  /** The records found at opening, in order. */
  readonly records: readonly JournalRecord[]
  /**
   * Appends in call order; settles when the records are as durable as the journal promises for their types. Undefined: they
   * are, and so is all that was appended before.
   */
  append(records: readonly JournalRecord[]): Promise<void> | undefined
  /** Gives the lease back. Idempotent; appends before it are kept. */
  close(): Promise<void>
}
