// A limit on the time that a function of the host may take: it need not listen to a signal, and may throw at once.

import type { Clock } from '../core/ports.ts'
import { createTimeLimit } from '../core/time/time-limit.ts'
import { unlessAborted } from '../core/unless-aborted.ts'

/** Settles as the task does; rejects with ERR_UPLOAD_TIMEOUT, which says `late`, when the time is up. */
export async function withinTime<T>(
  clock: Clock,
  limitMs: number,
  late: string,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, end } = createTimeLimit(clock, limitMs, late)
  try {
    return await unlessAborted(task(signal), signal)
  } finally {
    end()
  }
}
