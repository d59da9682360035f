// What an error means to the person in front of the page. The words for it are in the texts.

import type { ErrorSummary, UploadErrorCode } from '../core/errors.ts'
import { isPassingStatus } from '../core/retry.ts'

/**
 * The problems that a person can tell apart. `choose`: the file has to be chosen again. `setup`: only those who run the page or
 * the service can mend it, and the error's message is shown for them; every unlisted code means this, unless its status may pass.
 * `elsewhere`: another tab has the session, or the browser cannot keep it, and the error's message says which. After all problems
 * but the first two, one click tries again.
 */
export type Problem = 'network' | 'again' | 'choose' | 'signIn' | 'elsewhere' | 'setup'

const PROBLEMS: Readonly<Partial<Record<UploadErrorCode, Problem>>> = {
  ERR_UPLOAD_SOURCE_READ: 'choose',
  ERR_UPLOAD_SOURCE_CHANGED: 'choose',
  ERR_UPLOAD_NETWORK: 'network',
  ERR_UPLOAD_TIMEOUT: 'network',
  ERR_UPLOAD_HOST_UNREACHABLE: 'network',
  ERR_UPLOAD_DIGEST_MISMATCH: 'again',
  ERR_UPLOAD_RETRIES_EXHAUSTED: 'again',
  ERR_UPLOAD_FAILED: 'again',
  ERR_UPLOAD_CLOSED: 'again',
  ERR_UPLOAD_CREDENTIALS_REFUSED: 'signIn',
  ERR_UPLOAD_JOURNAL: 'elsewhere',
}

export function problemOf({ code, status = 0 }: ErrorSummary): Problem {
  return PROBLEMS[code] ?? (isPassingStatus(status) ? 'again' : 'setup')
}
