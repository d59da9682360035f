// Journal in memory: it keeps every promise of the port except durability. Other journals are measured by it.

import { UploadError } from '../../core/errors.ts'
import type { JournalRecord } from '../../core/journal/journal.ts'
import type { Journal, SessionJournal } from '../../core/ports.ts'

/**
 * Makes a journal whose sessions end with the process. Records are copied in and out, so what a caller later does to
 * its objects has no effect here. A key is listed from its first record on. A session that was opened and closed
 * without a record leaves nothing. Opening a key twice, or removing one that is open, rejects with ERR_UPLOAD_JOURNAL.
 */
export function memoryJournal(): Journal {
  // A Map keeps the order in which sessions began, and takes any string as a key.
  const sessions = new Map<string, JournalRecord[]>()
  const leases = new Set<string>()
  const requireFree = (key: string): void => {
    if (leases.has(key)) throw refused(`The session "${key}" is open: close it first.`)
  }

  return {
    open(key) {
      return attempt(() => {
        requireFree(key)
        leases.add(key)
        return openSession(key, sessions, () => leases.delete(key))
      })
    },
    read: (key) => Promise.resolve(structuredClone(sessions.get(key) ?? [])),
    list() {
      return Promise.resolve([...sessions.keys()])
    },
    remove(key) {
      return attempt(() => {
        requireFree(key)
        sessions.delete(key)
      })
    },
  }
}

function openSession(key: string, sessions: Map<string, JournalRecord[]>, giveBack: () => void): SessionJournal {
  let isClosed = false

  return {
    key,
    records: structuredClone(sessions.get(key) ?? []),
    append(records) {
      if (isClosed) return Promise.reject(refused(`The session "${key}" is closed: nothing can be written to it.`))
      if (records.length === 0) return undefined
      const copies = copyIn(key, records)
      if (copies instanceof Error) return Promise.reject(copies)
      const kept = sessions.get(key)
      if (kept) for (const copy of copies) kept.push(copy)
      else sessions.set(key, copies)
      return undefined
    },
    close() {
      if (!isClosed) giveBack()
      isClosed = true
      return Promise.resolve()
    },
  }
}

/** Copies all records before any is kept, so that a batch with one that cannot be stored leaves nothing behind. */
function copyIn(key: string, records: readonly JournalRecord[]): JournalRecord[] | UploadError {
  try {
    return records.map(copyOf)
  } catch (cause) {
    return refused(`A record of the session "${key}" is not plain data and cannot be kept.`, cause)
  }
}

/**
 * Copies plain data, and throws for what structuredClone cannot copy either. Many times quicker than structuredClone,
 * and journals are long.
 */
function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError('This is not plain data.')
    return value
  }
  if (Array.isArray(value)) return value.map(copyOf) as T
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return structuredClone(value)
  // Spread first, so that the copy has the shape of the original. Then what must not be shared is replaced.
  const copy = { ...value } as Record<string, unknown>
  for (const key of Object.keys(copy)) {
    const field = copy[key]
    // Most fields are one of these, and a call for each would cost more than all the rest.
    if (typeof field === 'string' || typeof field === 'number') continue
    const copied = copyOf(field)
    if (copied === field) continue
    // `__proto__` is a legal name.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: copied, enumerable: true, writable: true, configurable: true })
    else copy[key] = copied
  }
  return copy as T
}

function refused(message: string, cause?: unknown): UploadError {
  return new UploadError('ERR_UPLOAD_JOURNAL', message, { cause })
}

/** Turns a throw into a rejection, as the port promises, without a function that is async and awaits nothing. */
function attempt<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()))
}
