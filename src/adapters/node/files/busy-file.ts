// Waits for a file that another program holds for a moment, as a virus scanner holds on Windows what was just written.

import { isUploadError } from '../../../core/errors.ts'
import { isPromise } from '../../../core/is-promise.ts'
import type { Clock } from '../../../core/ports.ts'
import { sleep } from '../../../core/time/sleep.ts'

/** How long to wait each time before it is asked again, ms. */
const WAITS_MS = [100, 200, 400, 800, 1_600, 3_200]

const NEVER = new AbortController().signal

/** Whether an error says that somebody else holds the file. */
function isBusy(error: unknown): boolean {
  return isUploadError(error) && error.details['systemCode'] === 'EBUSY'
}

/**
 * Returns the answer, after a few waits if need be. Whatever still goes wrong then is thrown or rejects as it is, and so is at once
 * what `isHeld` does not take for a file that is held. Rejects with the signal's reason when that fires during a wait.
 */
export function unlessBusy<T>(
  clock: Clock,
  ask: () => T | Promise<T>,
  signal = NEVER,
  isHeld = isBusy,
  turn = 0,
): T | Promise<T> {
  const again = async (error: unknown): Promise<T> => {
    const waitMs = WAITS_MS[turn]
    if (waitMs === undefined || !isHeld(error)) throw error
    await sleep(clock, waitMs, signal)
    return unlessBusy(clock, ask, signal, isHeld, turn + 1)
  }
  try {
    const answer = ask()
    return isPromise(answer) ? answer.catch(again) : answer
  } catch (error) {
    return again(error)
  }
}
