// Waits for a file that another program holds for a moment, as a virus scanner holds on Windows what was just written.

import { isUploadError } from '../../../core/errors.ts'
import { isPromise } from '../../../core/is-promise.ts'
import type { Clock } from '../../../core/ports.ts'

/** How long to wait each time before it is asked again, ms. */
const WAITS_MS = [100, 200, 400, 800, 1_600, 3_200]

/** Returns the answer, after a few waits if need be. Whatever still goes wrong then is thrown or rejects as it is. */
export function unlessBusy<T>(clock: Pick<Clock, 'setTimeout'>, ask: () => T | Promise<T>, turn = 0): T | Promise<T> {
  const again = async (error: unknown): Promise<T> => {
    const waitMs = WAITS_MS[turn]
    if (waitMs === undefined || !isUploadError(error) || error.details['systemCode'] !== 'EBUSY') throw error
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, waitMs))
    return unlessBusy(clock, ask, turn + 1)
  }
  try {
    const answer = ask()
    return isPromise(answer) ? answer.catch(again) : answer
  } catch (error) {
    return again(error)
  }
}
