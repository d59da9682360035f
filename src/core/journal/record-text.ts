// A journal's record as text and back. Every journal keeps records in this form, wherever it keeps them.

import { UploadError } from '../errors.ts'
import { isKnownType } from './found-records.ts'
import { JOURNAL_VERSION, type JournalRecord } from './journal.ts'

/**
 * The text of a record. Throws ERR_UPLOAD_JOURNAL when the record holds what JSON would change silently: a function, a date, a
 * map, a number that is not finite. Undefined properties are left out, and -0 becomes 0.
 */
export function recordText(record: JournalRecord): string {
  return JSON.stringify(record, function (this: Record<string, unknown>, name: string, shown: unknown) {
    // `shown` has been through toJSON already; the value itself is judged.
    if (!isPlain(this[name]) || (Array.isArray(this) && shown === undefined)) {
      throw new UploadError(
        'ERR_UPLOAD_JOURNAL',
        `A record of type ${record.type} is not plain data at "${name}" and cannot be kept.`,
      )
    }
    return shown
  })
}

/**
 * The record of a text; `name` and `line` say in messages where it stands. Throws ERR_UPLOAD_JOURNAL when the text is no
 * record, or one of another version or of a type that this program does not know.
 */
export function recordFromText(text: string, name: string, line: number): JournalRecord {
  const value = parseJson(text) as Partial<JournalRecord> | null | undefined
  if (typeof value?.type !== 'string' || typeof value.at !== 'number') throw damaged(name, line)
  if (value.type === 'session.begun' && value.version !== JOURNAL_VERSION) {
    throw unknownVersion(name, String(value.version), JOURNAL_VERSION)
  }
  if (isKnownType(value.type)) return value as JournalRecord
  throw new UploadError(
    'ERR_UPLOAD_JOURNAL',
    `The journal "${name}" has a record of the type ${JSON.stringify(value.type)} in line ${line}, which this program does not know. Finish this session with the program that began it.`,
    { details: { file: name, line } },
  )
}

export function damaged(name: string, line: number): UploadError {
  return new UploadError(
    'ERR_UPLOAD_JOURNAL',
    `The journal "${name}" is damaged in line ${line}; nothing in it was changed. Put back a copy of the file, or remove this session and upload its files again.`,
    { details: { file: name, line } },
  )
}

export function unknownVersion(name: string, version: string, known: number): UploadError {
  return new UploadError(
    'ERR_UPLOAD_JOURNAL',
    `The journal "${name}" has format version ${version}; this program reads version ${known}. Nothing in it was changed. Finish this session with the program that began it.`,
    { details: { file: name, version } },
  )
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object')
    return typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint'
  if (value === null || Array.isArray(value)) return true
  // Not compared with this realm's Object.prototype: a record may come from another one.
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
