// What a failure means for a file and for its session: most failures end one file, a few end everything.

import { isUploadError, summarize, UploadError } from '../errors.ts'
import type { LedgerFile } from '../journal/ledger.ts'
import type { Turn } from './turn.ts'

/** What ends the whole session: the service does not accept us, the journal fails, or the host is given up. */
const FATAL_CODES = ['ERR_UPLOAD_CREDENTIALS_REFUSED', 'ERR_UPLOAD_JOURNAL', 'ERR_UPLOAD_HOST_UNREACHABLE']

/** Whether a failure ends the session rather than one file. A foreign error does: it is a mistake in a program. */
export function isFatal(error: unknown): boolean {
  return !isUploadError(error) || FATAL_CODES.includes(error.code)
}

/** The same failure with the file's name in front of its message, and the place where it happened in its details. */
export function named(file: LedgerFile, error: unknown, turn?: Turn): UploadError {
  const { name } = file.plan
  const { code, message, ...known } = summarize(error)
  const where = turn && { partNumber: turn.unit.partNumber, attempt: turn.attempt }
  return new UploadError(code, `${name}: ${message}`, { cause: error, details: { ...known, ...where, file: name } })
}
