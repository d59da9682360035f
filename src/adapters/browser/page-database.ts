// The one IndexedDB database of a page: sessions, their records, and the file handles that a person gave for them.

import { openDB, type DBSchema, type IDBPDatabase } from 'idb'
import { isUploadError, UploadError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports.ts'
import { systemClock } from '../web/system-clock.ts'

/**
 * Version of the stores. The records have their own version in `session.begun`. In version 1 each record had its own
 * row.
 */
const DATABASE_VERSION = 2

/**
 * How long opening may take, ms. An older tab that is frozen hears of no upgrade, and the browser waits for it
 * silently.
 */
const OPEN_MS = 15_000

type Transaction = IDBPDatabase<Schema>['transaction']
type Work<T> = (database: Pick<IDBPDatabase<Schema>, 'transaction'>) => Promise<T>

interface Schema extends DBSchema {
  /** In the order in which they began, under a number that the database gives. */
  sessions: {
    key: number
    value: { readonly key: string; readonly isSettled: boolean }
    indexes: { key: string }
  }
  /** A row holds the texts of records that were appended together, one on each line. */
  records: { key: [session: number, number: number]; value: string }
  handles: { key: [sessionKey: string, fileIndex: number]; value: FileSystemFileHandle }
}

export interface PageDatabase {
  /**
   * Runs a piece of work of one transaction, whose `done` need not be awaited. Whatever the database rejects with
   * becomes ERR_UPLOAD_JOURNAL. The work gets only transactions, which keeps the rest of idb out of our build.
   */
  use<T>(work: Work<T>): Promise<T>
}

const databases = /* @__PURE__ */ new Map<string, PageDatabase>()

/** The database of this name, shared by all who name it. The first caller's clock is used. */
export function pageDatabase(name: string, clock = systemClock()): PageDatabase {
  const database = databases.get(name) ?? createDatabase(name, clock)
  databases.set(name, database)
  return database
}

/**
 * Makes a database that opens with the first piece of work. It closes itself when a tab with newer code wants to
 * upgrade it.
 */
function createDatabase(name: string, clock: Clock): PageDatabase {
  let opened: Promise<IDBPDatabase<Schema>> | undefined
  const open = (): Promise<IDBPDatabase<Schema>> =>
    new Promise((resolve, reject) => {
      const late = clock.setTimeout(() => {
        reject(refused('it does not open. Reload the other tabs of this page'))
      }, OPEN_MS)
      const opening = openDB<Schema>(name, DATABASE_VERSION, {
        upgrade(database, from) {
          if (from > 0) return
          database.createObjectStore('sessions', { autoIncrement: true }).createIndex('key', 'key', { unique: true })
          database.createObjectStore('records')
          database.createObjectStore('handles')
        },
        blocked() {
          reject(refused('another tab has an older version of this page open. Close or reload that tab'))
        },
        blocking(_current, _blocked, event) {
          ;(event.target as IDBDatabase).close()
          opened = undefined
        },
        terminated() {
          opened = undefined
        },
      })
      // The open may still succeed after it was refused, once the other tab lets go. Whoever asks until then is refused
      // at once.
      const settle = (database?: IDBPDatabase<Schema>): void => {
        clock.clearTimeout(late)
        opened = database && opening
        resolve(opening)
      }
      opening.then(settle, () => settle())
    })
  const use = async <T>(work: Work<T>, isAgain?: boolean): Promise<T> => {
    let aborted: Promise<unknown> | undefined
    try {
      const database = await (opened ??= open())
      const transaction = (...how: Parameters<Transaction>) => {
        const tx = database.transaction(...how)
        // Where only a request is awaited, this would reach the page as an unhandled rejection.
        aborted = tx.done.catch((why: unknown) => why)
        return tx
      }
      return await work({ transaction: transaction as Transaction })
    } catch (error) {
      if (isUploadError(error)) throw error
      // The database may not have been opened at all, or be closed by now. What prevented it may pass, so the next
      // use opens anew.
      opened = undefined
      // Somebody who clears the site takes the database from under whatever is being done in that moment.
      if (!isAgain) return use(work, true)
      // Of a request that was given up with its transaction, only the transaction says why.
      throw explained(((error as Error).name === 'AbortError' && (await aborted)) || error)
    }
  }
  return { use }
}

/** The range of everything of one session, in a store whose keys begin with it. */
export function rangeOf(session: number | string): IDBKeyRange {
  return IDBKeyRange.bound([session, 0], [session, Number.MAX_SAFE_INTEGER])
}

/**
 * Resolves when all of `tx` is done. Rejects with the error of the request that failed, which `tx.done` does not know
 * yet when it rejects: Safari says of a request that there is no more room.
 */
export async function ended(tx: { readonly done: Promise<void> }, ...requests: Promise<unknown>[]): Promise<void> {
  await Promise.all([...requests, tx.done])
}

function explained(cause: unknown): UploadError {
  const { name = 'it failed' } = cause as Partial<Error>
  const how =
    name === 'QuotaExceededError'
      ? 'the browser has no more room for this site. Free some space on the disk'
      : name === 'VersionError'
        ? 'a newer version of this page has used it. Reload the page'
        : `${name}. Allow this site to keep data, then reload the page`
  return refused(how, cause)
}

function refused(how: string, cause?: unknown): UploadError {
  return new UploadError('ERR_UPLOAD_JOURNAL', `The record of the upload cannot be kept in this browser: ${how}.`, {
    cause,
  })
}
