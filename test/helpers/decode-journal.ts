// A journal's bytes read at once, as the disk journal reads them in steps.

import { decodingJournal } from '../../src/core/journal/journal-lines.ts'
import { atOnce } from '../../src/core/journal/steps.ts'

export function decodeJournal(bytes: Uint8Array, name: string) {
  return atOnce(decodingJournal(bytes, name))
}
