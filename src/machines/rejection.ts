// Reads what an actor rejected with: a plain error and, where it says so, how far the actor came. It is total: machines keep
// only plain data, and no value whatever may break one of them.

import type { ErrorSummary, UploadErrorCode } from '../core/errors.ts'
import { foreignWords } from '../core/redact.ts'

const NO_REASON = 'An actor failed and gave no reason'

/** Counts of files, not of parts. They add up to all files of the session when a transfer came to its end. */
export interface TransferResult {
  readonly confirmedCount: number
  readonly failedCount: number
}

/** What `transferring` rejects with when it knows how far it came. Any other value is read as far as possible. */
export interface TransferFailure extends TransferResult {
  readonly error: ErrorSummary
}

/** What a rejected actor tells: the plain form of its error, and how far it came, if it said so. */
export interface Rejection {
  readonly error: ErrorSummary
  readonly outcome: TransferResult | null
}

/**
 * Reads what an actor rejected with, whatever it is; never throws. Accepts a `TransferFailure`, any error of ours and any other
 * value. A message that is not ours is redacted and cut at 300 characters.
 */
export function readRejection(reason: unknown): Rejection {
  try {
    return readPlain(reason)
  } catch {
    // A getter or a proxy that throws: there is nothing in it to report.
    return { error: { code: 'ERR_UPLOAD_INTERNAL', message: NO_REASON }, outcome: null }
  }
}

/** True when the far end may have done what was asked although no answer came: `details.isDoubtful` of an error. */
export function isDoubtful(reason: unknown): boolean {
  try {
    return fieldsOf(fieldsOf(reason)['details'])['isDoubtful'] === true
  } catch {
    return false
  }
}

function readPlain(reason: unknown): Rejection {
  const fields = fieldsOf(reason)
  const confirmedCount = fields['confirmedCount']
  const failedCount = fields['failedCount']
  return {
    error: summaryOf('error' in fields ? fields['error'] : reason),
    outcome: isCount(confirmedCount) && isCount(failedCount) ? { confirmedCount, failedCount } : null,
  }
}

function summaryOf(value: unknown): ErrorSummary {
  const fields = fieldsOf(value)
  const { code, message, details = fields } = fields
  const text = typeof value === 'string' ? value : typeof message === 'string' ? message : NO_REASON
  if (isUploadErrorCode(code)) return { code, message: text, ...placeIn(fieldsOf(details)) }
  return { code: 'ERR_UPLOAD_INTERNAL', message: foreignWords(text).slice(0, 300) }
}

/** Where it happened and with which answer, as in `summarize`. */
function placeIn(
  fields: Readonly<Record<string, unknown>>,
): Pick<ErrorSummary, 'file' | 'partNumber' | 'attempt' | 'status'> {
  const { file, partNumber, attempts, attempt = attempts, status } = fields
  return {
    ...(typeof file === 'string' ? { file } : {}),
    ...(isCount(partNumber) ? { partNumber } : {}),
    ...(isCount(attempt) ? { attempt } : {}),
    ...(isCount(status) ? { status } : {}),
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function isUploadErrorCode(code: unknown): code is UploadErrorCode {
  return typeof code === 'string' && code.startsWith('ERR_UPLOAD_')
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
