// What is said while an upload waits for somebody: for the network, or for a service or a storage that does nothing though there is one.

import type { Outage } from '../flows/upload.ts'
import type { Formats } from './formats.ts'
import type { UploaderTexts } from './texts.ts'

/** Without an outage: it was told before anybody listened. */
export function outageWords(texts: UploaderTexts, formats: Formats, outage: Outage | undefined): string {
  return outage?.reason === undefined || !navigator.onLine
    ? texts.noNetwork
    : texts.noAnswer(outage.untilMs === undefined ? undefined : formats.time(outage.untilMs))
}
