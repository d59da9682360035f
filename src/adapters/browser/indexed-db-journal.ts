// Journal in IndexedDB: sessions that outlive a reload, a crash of the tab and a restart of the browser.
//
// Records are kept as texts in the form of core/record-text.ts. Those that a power cut must not take are committed with
// strict durability; received parts alone are not, as in the journal on disk, and are sent again when they are lost.
// Bounded: a long history is shortened when it is opened, and of the sessions that are over the newest 100 stay.

import { compactRecords } from '../../core/compact-journal.ts'
import { UploadError } from '../../core/errors.ts'
import type { JournalRecord } from '../../core/journal.ts'
import type { Journal, SessionJournal } from '../../core/ports.ts'
import { recordFromText, recordText } from '../../core/record-text.ts'
import { platformLocks } from './host-slots.ts'
import { pageDatabase, type PageDatabase } from './page-database.ts'
import { leaseSession } from './session-lease.ts'

export interface IndexedDbJournalOptions {
  /** The database's name. Default `mocap-uplink`. */
  readonly name?: string
}

const SETTLED_KEPT = 100
const COMPACT_FROM_RECORDS = 256

/**
 * Any string is a key. `open` rejects with ERR_UPLOAD_JOURNAL when the session is open in this or another tab, and in a
 * page that is not secure. The browser may throw all of it away when the disk is full or the person clears the site.
 */
export function indexedDbJournal(options: IndexedDbJournalOptions = {}): Journal {
  const { name = 'mocap-uplink' } = options
  const database = pageDatabase(name)
  const remove = async (key: string): Promise<void> => {
    const release = await leaseSession(platformLocks(), name, key)
    try {
      await forget(database, key)
    } finally {
      await release()
    }
  }
  const prune = async (): Promise<void> => {
    for (const key of await settledBeyond(database, SETTLED_KEPT)) await remove(key).catch(() => undefined)
  }

  return {
    async open(key) {
      const release = await leaseSession(platformLocks(), name, key)
      try {
        const found = await find(database, key)
        await shorten(database, found)
        return openSession({ ...{ database, key, found, release }, onBegun: () => void prune().catch(() => undefined) })
      } catch (error) {
        await release()
        throw error
      }
    },
    read: async (key) => (await find(database, key)).records,
    list: () => database.use(async (db) => (await db.getAll('sessions')).map((session) => session.key)),
    remove,
  }
}

/** A session as it is in the database; `session` is undefined until it has a record. */
interface Found {
  session: number | undefined
  records: readonly JournalRecord[]
  /** The number of the last record. */
  last: number
}

function rangeOf(session: number): IDBKeyRange {
  return IDBKeyRange.bound([session, 0], [session, Number.MAX_SAFE_INTEGER])
}

async function find(database: PageDatabase, key: string): Promise<Found> {
  return database.use(async (db) => {
    const tx = db.transaction(['sessions', 'records'])
    const session = await tx.objectStore('sessions').index('key').getKey(key)
    if (session === undefined) return { session, records: [], last: 0 }
    const range = rangeOf(session)
    const [texts, numbers] = await Promise.all([
      tx.objectStore('records').getAll(range),
      tx.objectStore('records').getAllKeys(range),
    ])
    const records = texts.map((text, index) => recordFromText(text, key, numbers[index]?.[1] ?? 0))
    return { session, records, last: numbers.at(-1)?.[1] ?? 0 }
  })
}

async function shorten(database: PageDatabase, { session, records, last }: Found): Promise<void> {
  if (session === undefined || records.length < COMPACT_FROM_RECORDS) return
  const shorter = compactRecords(records)
  if (shorter.length * 2 > records.length) return
  await database.use(async (db) => {
    const tx = db.transaction('records', 'readwrite', { durability: 'strict' })
    void tx.store.delete(rangeOf(session))
    // Their numbers end where the old ones did, so that what is appended comes after them.
    shorter.forEach(
      (record, index) => void tx.store.put(recordText(record), [session, last - shorter.length + 1 + index]),
    )
    await tx.done
  })
}

async function forget(database: PageDatabase, key: string): Promise<void> {
  await database.use(async (db) => {
    const tx = db.transaction(['sessions', 'records', 'handles'], 'readwrite')
    const session = await tx.objectStore('sessions').index('key').getKey(key)
    if (session !== undefined) {
      void tx.objectStore('sessions').delete(session)
      void tx.objectStore('records').delete(rangeOf(session))
    }
    void tx.objectStore('handles').delete(IDBKeyRange.bound([key, 0], [key, Number.MAX_SAFE_INTEGER]))
    await tx.done
  })
}

async function settledBeyond(database: PageDatabase, kept: number): Promise<string[]> {
  const sessions = await database.use((db) => db.getAll('sessions'))
  const settled = sessions.filter((session) => session.isSettled)
  return settled.slice(0, Math.max(0, settled.length - kept)).map((session) => session.key)
}

interface Appending {
  readonly records: readonly JournalRecord[]
  readonly texts: readonly string[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function openSession(options: {
  readonly database: PageDatabase
  readonly key: string
  readonly found: Found
  readonly release: () => Promise<void>
  readonly onBegun: () => void
}): SessionJournal {
  const { database, key, found } = options
  const { records } = found
  const waiting: Appending[] = []
  let writing: Promise<void> | undefined
  let closing: Promise<void> | undefined

  /** Whatever was appended while one commit ran shares the next one. */
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0)
      const isNew = found.session === undefined
      try {
        await commit(database, key, found, batch)
        for (const { resolve } of batch) resolve()
        if (isNew) options.onBegun()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    writing = undefined
  }
  const close = async (): Promise<void> => {
    await writing
    await options.release()
  }
  return {
    key,
    records,
    // The texts are made before anything is awaited: what the caller does to its records later is not seen.
    append(added) {
      return new Promise((resolve, reject) => {
        if (closing !== undefined) {
          throw new UploadError('ERR_UPLOAD_JOURNAL', `The session "${key}" is closed: nothing can be written to it.`)
        }
        if (added.length === 0) {
          resolve()
          return
        }
        waiting.push({ records: [...added], texts: added.map(recordText), resolve, reject })
        writing ??= writeAll()
      })
    },
    close: () => (closing ??= close()),
  }
}

async function commit(database: PageDatabase, key: string, found: Found, batch: readonly Appending[]): Promise<void> {
  const records = batch.flatMap((each) => each.records)
  const texts = batch.flatMap((each) => each.texts)
  const durability = records.some((record) => record.type !== 'part.received') ? 'strict' : 'relaxed'
  const isSettled = settledBy(records)
  await database.use(async (db) => {
    const tx = db.transaction(['sessions', 'records'], 'readwrite', { durability })
    const sessions = tx.objectStore('sessions')
    const row = { key, isSettled: isSettled ?? false }
    const session = found.session ?? (await sessions.add(row))
    if (found.session !== undefined && isSettled !== undefined) void sessions.put(row, session)
    texts.forEach((text, index) => void tx.objectStore('records').add(text, [session, found.last + 1 + index]))
    await tx.done
    found.session = session
    found.last += texts.length
  })
}

/** What the records say about the end of the session; undefined when they say nothing. */
function settledBy(records: readonly JournalRecord[]): boolean | undefined {
  const last = records.findLast(({ type }) => type === 'session.settled' || type === 'session.resumed')
  return last === undefined ? undefined : last.type === 'session.settled'
}
