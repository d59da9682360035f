// The files of a session that is to continue, in the form in which they have to be found again.

import type { SoughtFile } from '../ports.ts'
import type { FoldedJournal } from './fold-journal.ts'

/** All files, in order. A confirmed file is not read again, but may help to tell two similar files apart. */
export function soughtFiles({ ledger, locations }: Pick<FoldedJournal, 'ledger' | 'locations'>): SoughtFile[] {
  return ledger.files.map(({ plan: { fileIndex, name, sizeBytes, modifiedAtMs } }) => {
    return { fileIndex, name, location: locations[fileIndex] ?? name, sizeBytes, modifiedAtMs }
  })
}
