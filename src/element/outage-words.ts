// What is said while an upload waits: for the network or, if there is one, for a service or a storage that is unavailable.

import type { Outage } from '../flows/upload.ts'
import type { Words } from './words.ts'

/** `outage` is undefined if it was reported before anybody listened. */
export function outageWords(words: Words, outage: Outage | undefined): string {
  if (!navigator.onLine) return words.noNetwork
  if (!outage) return words.waiting
  return words.noAnswer(outage.who, outage.untilMs ? words.time(outage.untilMs) : undefined)
}
