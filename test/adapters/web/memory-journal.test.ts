import { describe, expect, it } from 'vitest'

import { memoryJournal } from '../../../src/adapters/web/memory-journal.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { journalContract } from '../../../src/testing/journal-contract.ts'

journalContract('memoryJournal', () => Promise.resolve({ journal: memoryJournal() }))

describe('memoryJournal', () => {
  it('shares nothing with another one', async () => {
    const first = await memoryJournal().open('night-1')
    await first.append([{ type: 'session.creating', at: 1 }])

    expect(await memoryJournal().list()).toEqual([])
  })

  it('keeps nothing of a batch with a record that is not plain data', async () => {
    const journal = memoryJournal()
    const session = await journal.open('night-1')
    const impossible = { type: 'session.creating', at: 2, callback: () => 1 } as unknown as JournalRecord

    const appending = session.append([{ type: 'session.creating', at: 1 }, impossible])

    await expect(appending).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    expect(await journal.list()).toEqual([])
  })
})
