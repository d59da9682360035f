// What an error means to the person in front of the page, and what that person can do. The texts have the words.

import type { ErrorSummary, UploadErrorCode } from '../core/errors.ts'

/** What a person can tell apart. Everything else is `setup`: only those who run the page or the service can mend it. */
export type Problem = 'network' | 'again' | 'choose' | 'signIn' | 'elsewhere' | 'setup'

/**
 * `retry`: the same file again, with one click. `choose`: this file has to be chosen again. `ask`: nobody in front of
 * the page can mend it; the message for those who can is shown with it.
 */
export type ProblemAction = 'retry' | 'choose' | 'ask'

const PROBLEMS: Readonly<Partial<Record<UploadErrorCode, Problem>>> = {
  ERR_UPLOAD_SOURCE_READ: 'choose',
  ERR_UPLOAD_SOURCE_CHANGED: 'choose',
  ERR_UPLOAD_NETWORK: 'network',
  ERR_UPLOAD_TIMEOUT: 'network',
  ERR_UPLOAD_HOST_UNREACHABLE: 'network',
  ERR_UPLOAD_HTTP_STATUS: 'again',
  ERR_UPLOAD_ADDRESS_EXPIRED: 'again',
  ERR_UPLOAD_DIGEST_MISMATCH: 'again',
  ERR_UPLOAD_RETRIES_EXHAUSTED: 'again',
  ERR_UPLOAD_FAILED: 'again',
  ERR_UPLOAD_CREDENTIALS_REFUSED: 'signIn',
  ERR_UPLOAD_JOURNAL: 'elsewhere',
}

export function problemOf({ code }: ErrorSummary): Problem {
  return PROBLEMS[code] ?? 'setup'
}

export function actionOf(error: ErrorSummary): ProblemAction {
  const problem = problemOf(error)
  if (problem === 'choose') return problem
  return problem === 'setup' ? 'ask' : 'retry'
}
