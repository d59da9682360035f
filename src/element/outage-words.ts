// What is said while an upload waits for somebody: for the network, or for a service or a storage that does nothing though there is one.

import type { Outage } from '../flows/upload.ts'
import type { Words } from './words.ts'

/** Without an outage: it was told before anybody listened. */
export function outageWords(words: Words, outage: Outage | undefined): string {
  return outage?.reason === undefined || !navigator.onLine
    ? words.noNetwork
    : words.noAnswer(outage.untilMs === undefined ? undefined : words.time(outage.untilMs))
}
