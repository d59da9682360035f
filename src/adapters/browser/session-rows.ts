// The rows of a session in the page's database. Records that are appended together form one row, because each row costs
// as much as a small file.

import { compactRecords } from '../../core/journal/compact-journal.ts'
import type { JournalRecord } from '../../core/journal/journal.ts'
import { recordFromText, recordText } from '../../core/journal/record-text.ts'
import { ended, rangeOf, type PageDatabase } from './page-database.ts'

/** A session as it is in the database. `session` is undefined until it has a record. */
export interface Found {
  session: number | undefined
  records: readonly JournalRecord[]
  /** The number of the last row. */
  last: number
  /** The length of all rows when they were found, in UTF-16 units. */
  readonly length: number
}

const COMPACT_FROM_RECORDS = 256

export async function find(database: PageDatabase, key: string): Promise<Found> {
  return database.use(async (db) => {
    const tx = db.transaction(['sessions', 'records'])
    const session = await tx.objectStore('sessions').index('key').getKey(key)
    // If there is none: 0 is no session either.
    const range = rangeOf(session ?? 0)
    const [rows, numbers] = await Promise.all([
      tx.objectStore('records').getAll(range),
      tx.objectStore('records').getAllKeys(range),
    ])
    const texts = rows.flatMap((row) => row.split('\n'))
    const records = texts.map((text, index) => recordFromText(text, key, index + 1))
    return { session, records, last: numbers.at(-1)?.[1] ?? 0, length: rowOf(rows).length }
  })
}

/** Rewrites a long history as one row, if that halves it. Of a session that is no longer in the database: see `addRow`. */
export async function shorten(
  database: PageDatabase,
  key: string,
  { session, records, last, length }: Found,
): Promise<void> {
  if (session === undefined || records.length < COMPACT_FROM_RECORDS) return
  const row = rowOf(compactRecords(records).map(recordText))
  if (row.length * 2 > length) return
  await database.use(async (db) => {
    const tx = db.transaction(['sessions', 'records'], 'readwrite', { durability: 'strict' })
    if ((await tx.objectStore('sessions').index('key').getKey(key)) !== session) return
    const rows = tx.objectStore('records')
    // Later rows come after it, so it takes the number of the last row.
    await ended(tx, rows.delete(rangeOf(session)), rows.put(row, [session, last]))
  })
}

/**
 * Adds a row. `isSettled` says whether the session is over from here on; undefined if nothing changes. Of a session that is no longer
 * in the database, because somebody has cleared the site, nothing is written: its number may be that of another by now.
 */
export async function addRow(
  database: PageDatabase,
  key: string,
  found: Found,
  row: {
    readonly texts: readonly string[]
    readonly durability: IDBTransactionDurability
    readonly isSettled: boolean | undefined
  },
): Promise<void> {
  const { texts, durability, isSettled } = row
  await database.use(async (db) => {
    const tx = db.transaction(['sessions', 'records'], 'readwrite', { durability })
    const sessions = tx.objectStore('sessions')
    const kept = await sessions.index('key').getKey(key)
    if (kept !== found.session) return
    const session =
      isSettled === undefined && kept ? kept : await sessions.put({ key, isSettled: isSettled ?? false }, found.session)
    await ended(tx, tx.objectStore('records').add(rowOf(texts), [session, found.last + 1]))
    found.session = session
    found.last += 1
  })
}

export async function forget(database: PageDatabase, key: string): Promise<void> {
  await database.use(async (db) => {
    const tx = db.transaction(['sessions', 'records', 'handles'], 'readwrite')
    // If there is none: 0 is no session either.
    const session = (await tx.objectStore('sessions').index('key').getKey(key)) ?? 0
    await ended(
      tx,
      tx.objectStore('sessions').delete(session),
      tx.objectStore('records').delete(rangeOf(session)),
      tx.objectStore('handles').delete(rangeOf(key)),
    )
  })
}

/** Every session, in the order in which they began. */
export function sessionRows(database: PageDatabase): Promise<{ readonly key: string; readonly isSettled: boolean }[]> {
  return database.use((db) => db.transaction('sessions').store.getAll())
}

/** Keys of the sessions that are over, except the newest `kept`. */
export async function settledBeyond(database: PageDatabase, kept: number): Promise<string[]> {
  const sessions = await sessionRows(database)
  const settled = sessions.filter((session) => session.isSettled)
  return settled.slice(0, -kept).map((session) => session.key)
}

/** Joins texts into a row. The text of a record has no line break. */
function rowOf(texts: readonly string[]): string {
  return texts.join('\n')
}
