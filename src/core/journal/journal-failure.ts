// Makes failures of a host's own journal, such as one in a database, look like those of ours.

import { asOurs } from '../errors.ts'
import type { Journal, SessionJournal } from '../ports.ts'

/** Wraps a journal: what it throws or rejects with becomes ERR_UPLOAD_JOURNAL with that as the cause; an UploadError stays as it is. */
export function failingAsOurs(journal: Journal): Journal {
  return {
    open: (key) => told(() => journal.open(key).then(openAsOurs)),
    read: (key) => told(() => journal.read(key)),
    list: () => told(() => journal.list()),
    remove: (key) => told(() => journal.remove(key)),
  }
}

function openAsOurs(session: SessionJournal): SessionJournal {
  const { key, records } = session
  return {
    key,
    records,
    // A store that works at once, such as SQLite, throws at once.
    append: (added) => told(() => session.append(added)),
    close: () => told(() => session.close()),
  }
}

function told<T extends Promise<unknown> | undefined>(work: () => T): T {
  try {
    return work()?.catch(fail) as T
  } catch (error) {
    return fail(error)
  }
}

function fail(error: unknown): never {
  throw asOurs(error, 'ERR_UPLOAD_JOURNAL', 'The journal failed')
}
