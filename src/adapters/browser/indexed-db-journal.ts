// Journal in IndexedDB: its sessions outlive a reload, a crash of the tab and a restart of the browser.
//
// Records are stored as texts in the form of core/journal/record-text.ts. Those that a power cut must not take are
// committed with strict durability. Received parts alone are not, as in the journal on disk: if they are lost, they are
// sent again. The size is bounded: a long history is shortened when it is opened, and of finished sessions only the
// newest 100 are kept.

import type { JournalRecord, KeptPart } from '../../core/journal/journal.ts'
import type { Clock, Journal, SessionJournal } from '../../core/ports.ts'
import { recordText } from '../../core/journal/record-text.ts'
import { createGathering } from '../web/gathering.ts'
import { pageDatabase, type PageDatabase } from './page-database.ts'
import { leaseSession, refused } from './session-lease.ts'
import { addRow, find, forget, sessionRows, settledBeyond, shorten, type Found } from './session-rows.ts'

export interface IndexedDbJournalOptions {
  /** The database's name. Default `mocap-uplink`. */
  readonly name?: string | undefined
  /**
   * The clock that limits opening the database to 15 s. Default: the platform's. The first journal of a name decides.
   */
  readonly clock?: Clock | undefined
}

export interface IndexedDbJournal extends Journal {
  /** The database's name. The file handles of a session are kept beside it. */
  readonly database: string
}

const SETTLED_KEPT = 100

/**
 * Makes a journal. Any string is a key. `open` rejects with ERR_UPLOAD_JOURNAL if the session is open in this or
 * another tab, and in a page that is not secure. The browser may delete everything if the disk is full or the person
 * clears the site; a session that is open then goes on, and is not kept.
 */
export function indexedDbJournal(options: IndexedDbJournalOptions = {}): IndexedDbJournal {
  const { name = 'mocap-uplink', clock } = options
  const database = pageDatabase(name, clock)
  const remove = async (key: string): Promise<void> => {
    const release = await leaseSession(name, key)
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
    database: name,
    async open(key) {
      const release = await leaseSession(name, key)
      try {
        const found = await find(database, key)
        await shorten(database, key, found)
        return openSession(database, key, found, release, () => void prune().catch(() => undefined))
      } catch (error) {
        await release()
        throw error
      }
    },
    read: async (key) => (await find(database, key)).records,
    list: async () => (await sessionRows(database)).map((session) => session.key),
    remove,
  }
}

interface Appended {
  readonly records: readonly JournalRecord[]
  readonly texts: readonly string[]
}

function openSession(
  database: PageDatabase,
  key: string,
  found: Found,
  release: () => Promise<void>,
  onBegun: () => void,
): SessionJournal {
  const { records } = found
  const write = createGathering(async (appended: readonly Appended[]) => {
    const added = appended.flatMap((each) => each.records)
    if (added.length === 0) return
    const isNew = found.session === undefined
    await addRow(database, key, found, {
      texts: appended.flatMap((each) => each.texts),
      durability: added.some(({ type }) => type !== 'part.received') ? 'strict' : 'relaxed',
      isSettled: settledBy(added),
    })
    if (isNew) onBegun()
  })
  let isConfirming = false
  let partsLeft = records.reduce((left, record) => left + partsOpenedBy(record), 0)
  /**
   * Whether somebody with more to do waits for the record. While other parts are still to come, nobody waits for a
   * part's receipt, nor for the last word on a file that the service is not asked to confirm.
   */
  const isUrgent = (record: JournalRecord): boolean => {
    const { type } = record
    isConfirming ||= type === 'file.confirming'
    partsLeft += partsOpenedBy(record)
    return partsLeft <= 0 || (type !== 'part.received' && (type !== 'file.confirmed' || isConfirming))
  }
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await write({ records: [], texts: [] }, true).catch(() => undefined)
    await release()
  }
  return {
    key,
    records,
    // The texts are made before anything is awaited, so what the caller later does to its records has no effect.
    async append(added) {
      if (closing) throw refused(key, 'is closed: nothing can be written to it.')
      await write({ records: [...added], texts: added.map(recordText) }, added.filter(isUrgent).length > 0)
    },
    close: () => (closing ??= close()),
  }
}

/** How many more parts lack a receipt after this record. A hint: it does not count parts that are sent again. */
function partsOpenedBy(record: JournalRecord): number {
  if (record.type === 'part.received') return -1
  if (record.type === 'session.kept') return -record.files.flatMap((file) => file.parts).filter(hasReceipt).length
  return record.type === 'session.begun' ? record.files.reduce((sum, { partCount }) => sum + partCount, 0) : 0
}

function hasReceipt({ receipt }: KeptPart): boolean {
  return receipt !== undefined
}

/** What the records say about the end of the session; undefined if they say nothing. */
function settledBy(records: readonly JournalRecord[]): boolean | undefined {
  const last = records.findLast(({ type }) => type === 'session.settled' || type === 'session.resumed')
  return last && last.type === 'session.settled'
}
