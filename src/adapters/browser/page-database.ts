// The one IndexedDB database of a page: sessions, their records, and the file handles that a person gave for them.

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

/** A row of `sessions`, which are in the order in which they began, under a number that the database gives. */
export interface SessionRow {
  readonly key: string
  readonly isSettled: boolean
}

export interface PageDatabase {
  /**
   * Runs a piece of work. Whatever the database rejects with becomes ERR_UPLOAD_JOURNAL. Its stores: `sessions`; `records`, by
   * [session, number], of which a row holds the texts of records that were appended together, one on each line; and `handles`, by
   * [session key, file index].
   */
  use<T>(work: (database: IDBDatabase) => Promise<T>): Promise<T>
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
  let opened: Promise<IDBDatabase> | undefined
  const forget = (): void => {
    opened = undefined
  }
  const open = (): Promise<IDBDatabase> =>
    new Promise((resolve, reject) => {
      const request = indexedDB.open(name, DATABASE_VERSION)
      const late = clock.setTimeout(() => {
        reject(refused('it does not open. Reload the other tabs of this page'))
      }, OPEN_MS)
      request.onupgradeneeded = ({ oldVersion }) => {
        if (oldVersion > 0) return
        const { result: database } = request
        database.createObjectStore('sessions', { autoIncrement: true }).createIndex('key', 'key', { unique: true })
        database.createObjectStore('records')
        database.createObjectStore('handles')
      }
      request.onblocked = () => {
        reject(refused('another tab has an older version of this page open. Close or reload that tab'))
      }
      // The open may still succeed after it was refused, once the other tab lets go. Whoever asks until then is refused
      // at once.
      const opening = answered(request)
      const settle = (database?: IDBDatabase): void => {
        clock.clearTimeout(late)
        opened = database && opening
        resolve(opening)
        if (!database) return
        database.onversionchange = () => {
          database.close()
          forget()
        }
        // The browser has closed it, because the person clears the site for example.
        database.onclose = forget
      }
      opening.then(settle, () => settle())
    })
  return {
    async use(work) {
      try {
        return await work(await (opened ??= open()))
      } catch (error) {
        if (isUploadError(error)) throw error
        // The database may not have been opened at all, or be closed by now. What prevented it may pass, so the next
        // use opens anew.
        forget()
        throw explained(error)
      }
    },
  }
}

/** The range of everything of one session, in a store whose keys begin with it. */
export function rangeOf(session: number | string): IDBKeyRange {
  return IDBKeyRange.bound([session, 0], [session, Number.MAX_SAFE_INTEGER])
}

/** Resolves with what was asked for. */
export function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(reasonOf(request.error))
  })
}

/** Settles as the whole of `tx` does, so that nobody has to wait for its requests. Call it in the task that makes the last of them. */
export function ended(tx: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    tx.oncomplete = () => resolve()
    tx.onabort = () => reject(reasonOf(tx.error))
  })
}

/** The platform gives no error where a transaction is aborted by itself, such as when the database is closed. */
function reasonOf(error: DOMException | null): DOMException {
  return error ?? new DOMException('', 'AbortError')
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
