// What a person can do about an error; the words are in the texts, the code decides.

import type { ErrorSummary, UploadErrorCode } from '../core/errors.ts'

/**
 * `retry`: the same file again, with one click. `choose`: this file has to be chosen again. `ask`: nobody in front of
 * the page can mend it; the message for those who can is shown with it.
 */
export type ProblemAction = 'retry' | 'choose' | 'ask'

const CHOOSE: readonly UploadErrorCode[] = ['ERR_UPLOAD_SOURCE_CHANGED', 'ERR_UPLOAD_SOURCE_READ']
const RETRY: readonly UploadErrorCode[] = [
  'ERR_UPLOAD_NETWORK',
  'ERR_UPLOAD_TIMEOUT',
  'ERR_UPLOAD_HOST_UNREACHABLE',
  'ERR_UPLOAD_HTTP_STATUS',
  'ERR_UPLOAD_ADDRESS_EXPIRED',
  'ERR_UPLOAD_DIGEST_MISMATCH',
  'ERR_UPLOAD_RETRIES_EXHAUSTED',
  'ERR_UPLOAD_JOURNAL',
  'ERR_UPLOAD_CANCELLED',
]

export function actionOf({ code }: ErrorSummary): ProblemAction {
  if (CHOOSE.includes(code)) return 'choose'
  return RETRY.includes(code) ? 'retry' : 'ask'
}
