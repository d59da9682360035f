// What each test of a journal has: an empty journal of its own, and sessions that are closed behind it.

import { afterEach } from 'vitest'
import type { JournalRecord } from '../../core/journal/journal.ts'
import type { Journal, SessionJournal } from '../../core/ports.ts'

/** An empty journal. */
export interface JournalSubject {
  readonly journal: Journal
  /** Another instance over the same place, as another process has it. Absent where a place cannot be shared. */
  readonly another?: () => Journal
  readonly cleanUp?: () => Promise<void>
}

export interface JournalRig {
  begin(): Promise<JournalSubject>
  open(journal: Journal, key: string): Promise<SessionJournal>
  /** What an opening finds. */
  recordsOf(journal: Journal, key: string): Promise<readonly JournalRecord[]>
  /** Closes and removes all so far, as after each test. */
  endAll(): Promise<void>
}

/** Ends what a test has begun, after each test of the group that calls this. */
export function journalRig(make: () => Promise<JournalSubject>): JournalRig {
  const subjects: JournalSubject[] = []
  const sessions: SessionJournal[] = []

  async function begin(): Promise<JournalSubject> {
    const subject = await make()
    subjects.push(subject)
    return subject
  }

  async function open(journal: Journal, key: string): Promise<SessionJournal> {
    const session = await journal.open(key)
    sessions.push(session)
    return session
  }

  async function recordsOf(journal: Journal, key: string): Promise<readonly JournalRecord[]> {
    const session = await open(journal, key)
    await session.close()
    return session.records
  }

  async function endAll(): Promise<void> {
    for (const session of sessions.splice(0)) await session.close()
    for (const subject of subjects.splice(0)) await subject.cleanUp?.()
  }

  afterEach(endAll)
  return { begin, open, recordsOf, endAll }
}
