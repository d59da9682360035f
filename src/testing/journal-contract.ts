// What every Journal promises, wherever it keeps its records.

import { describe } from 'vitest'
import { describeKeeping } from './journal/keeping.ts'
import { describeLeasing } from './journal/leasing.ts'
import { journalRig, type JournalSubject } from './journal/rig.ts'

export type { JournalSubject } from './journal/rig.ts'

/**
 * Declares the tests of a journal. `make` gives an empty one for each test, and `another` over the same place where there can be one.
 * Checked: records of every kind, ten thousand at once, one of megabytes, their order, leases, keys and removal. All in one process:
 * what a kill or a power cut leaves is not looked at.
 */
export function journalContract(label: string, make: () => Promise<JournalSubject>): void {
  describe(`${label}: the contract of a journal`, () => {
    const rig = journalRig(make)

    describeKeeping(rig)
    describeLeasing(rig)
  })
}
