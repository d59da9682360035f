// Splits long work, so that what a page draws or is asked for comes in between.

import type { Clock } from '../ports.ts'

/** Resolves in a later task of the thread. */
export function nextTask(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.setTimeout(resolve, 0))
}
