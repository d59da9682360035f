// Waits for a file that another program holds for a moment, as a virus scanner holds on Windows what was just written.

import { isUploadError } from '../../../core/errors.ts'
import { isPromise } from '../../../core/is-promise.ts'
import type { Clock } from '../../../core/ports.ts'
import { sleep } from '../../../core/time/sleep.ts'

/** How long to wait each time before it is asked again, ms. */
export const WAITS_MS = [100, 200, 400, 800, 1_600, 3_200]

const NEVER = new AbortController().signal

/**
 * Returns the answer, after a few waits if need be. Whatever still goes wrong then is thrown or rejects as it is. Rejects with
 * the signal's reason when that fires during a wait.
 */
export function unlessBusy<T>(clock: Clock, ask: () => T | Promise<T>, signal = NEVER, turn = 0): T | Promise<T> {
  const again = async (error: unknown): Promise<T> => {
    const waitMs = WAITS_MS[turn]
    if (waitMs === undefined || !isUploadError(error) || error.details['systemCode'] !== 'EBUSY') throw error
    await sleep(clock, waitMs, signal)
    return unlessBusy(clock, ask, signal, turn + 1)
  }
  try {
    const answer = ask()
    return isPromise(answer) ? answer.catch(again) : answer
  } catch (error) {
    return again(error)
  }
}
