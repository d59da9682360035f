// Limits the time that a function of the host may take. It need not listen to a signal, and may throw at once.

import { UploadError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { createTimeLimit } from './time-limit.ts'

/** Settles as the task does; rejects with what `tooLate` makes when the time is up, and with the outer signal's reason. */
export async function withinTime<T>(
  clock: Clock,
  limitMs: number,
  tooLate: () => Error,
  task: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  const { signal, end } = createTimeLimit(clock, limitMs, tooLate, outer)
  try {
    return await unlessAborted(task(signal), signal)
  } finally {
    end()
  }
}

export function timeout(message: string): UploadError {
  return new UploadError('ERR_UPLOAD_TIMEOUT', message)
}
