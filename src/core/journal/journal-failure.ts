// What a journal of the host's own fails with, in a database of its own, is told as what one of ours fails with.

import { asOurs } from '../errors.ts'
import type { Journal, SessionJournal } from '../ports.ts'

/** The same journal; whatever it throws or rejects with is ERR_UPLOAD_JOURNAL with that as the cause, an UploadError as it is. */
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
