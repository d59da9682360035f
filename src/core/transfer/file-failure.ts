// What a failure means for a file and for its session: most fail one file, few end everything.

import { isUploadError, summarize, UploadError } from '../errors.ts'
import type { LedgerFile } from '../journal/ledger.ts'
import type { Turn } from './schedule.ts'

/** What no file of the session can survive: the service does not take us, or we cannot remember what we do. */
const FATAL_CODES = new Set(['ERR_UPLOAD_CREDENTIALS_REFUSED', 'ERR_UPLOAD_JOURNAL', 'ERR_UPLOAD_HOST_UNREACHABLE'])

/** Whether a failure ends the session rather than one file. A foreign error is a mistake in a program and does. */
export function isFatal(error: unknown): boolean {
  return !isUploadError(error) || FATAL_CODES.has(error.code)
}

/** The same failure with the file's name in front, and where it happened in its details. */
export function named(file: LedgerFile, error: unknown, turn?: Turn): UploadError {
  const { name } = file.plan
  const { code, message, ...known } = summarize(error)
  const where = turn && { partNumber: turn.unit.partNumber, attempt: turn.attempt }
  return new UploadError(code, `${name}: ${message}`, { cause: error, details: { ...known, ...where, file: name } })
}
