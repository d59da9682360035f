// The exit codes of the process. Scripts depend on these numbers.

import { isUploadError } from '../core/errors.ts'

/** 0 all confirmed; 1 failed; 2 wrong use, found before any call; 3 some files confirmed; 4 credentials refused. */
export const EXIT = Object.freeze({ done: 0, failed: 1, wrongUse: 2, partial: 3, refused: 4 })

/** 128 + the signal's number, as shells do. */
export const SIGNAL_EXIT = Object.freeze({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })

export type StopSignal = keyof typeof SIGNAL_EXIT

const WRONG_USE_CODES: readonly string[] = [
  'ERR_UPLOAD_INVALID_ARGUMENT',
  'ERR_UPLOAD_INSECURE_URL',
  'ERR_UPLOAD_SOURCE_READ',
]

/**
 * The exit code of an error that ended a command. Wrong use is thrown by checks that run before any call. If an upload fails
 * with the same codes later, they arrive in its report and are judged there.
 */
export function exitCodeOfError(error: unknown): number {
  if (!isUploadError(error)) return EXIT.failed
  if (WRONG_USE_CODES.includes(error.code)) return EXIT.wrongUse
  return error.code === 'ERR_UPLOAD_CREDENTIALS_REFUSED' ? EXIT.refused : EXIT.failed
}
