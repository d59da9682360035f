// The files of a session that is to go on, as they have to be found again.

import { given } from '../core/given.ts'
import type { FoldedJournal } from '../core/journal/fold-journal.ts'
import type { SoughtFile } from '../core/ports.ts'

/** All of them, in order: what is confirmed is not read again, and may still tell which of two alike files is another one. */
export function soughtFiles({ ledger, locations }: Pick<FoldedJournal, 'ledger' | 'locations'>): SoughtFile[] {
  return ledger.files.map(({ plan: { fileIndex, name, sizeBytes, modifiedAtMs } }) => {
    return { fileIndex, name, location: locations[fileIndex] ?? name, sizeBytes, ...given({ modifiedAtMs }) }
  })
}
