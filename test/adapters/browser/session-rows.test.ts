// The rows of a session whose site is cleared between two pieces of work: its number may be that of another session by then.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { PageDatabase } from '../../../src/adapters/browser/page-database.ts'
import { shorten } from '../../../src/adapters/browser/session-rows.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'

beforeEach(() => vi.stubGlobal('IDBKeyRange', { bound: () => undefined }))
afterEach(() => vi.unstubAllGlobals())

/** A database that knows the session by this number, and what is changed in it. */
function databaseWith(session: number | undefined) {
  const changed: string[] = []
  const store = {
    index: () => ({ getKey: () => Promise.resolve(session) }),
    delete: () => Promise.resolve(void changed.push('delete')),
    put: () => Promise.resolve(void changed.push('put')),
  }
  const transaction = () => ({ objectStore: () => store, store, done: Promise.resolve() })
  const use = (work: (database: { transaction: typeof transaction }) => Promise<unknown>) => work({ transaction })
  return { database: { use } as unknown as PageDatabase, changed }
}

const records: readonly JournalRecord[] = [
  {
    ...{ type: 'session.begun', at: 1, version: 1, key: 'k', flow: 'video', params: {}, locations: ['a.mp4'] },
    files: [
      { fileIndex: 0, name: 'a.mp4', sizeBytes: 1, modifiedAtMs: 1, units: [{ partNumber: 1, start: 0, end: 1 }] },
    ],
  } as unknown as JournalRecord,
  ...Array.from({ length: 300 }, (): JournalRecord => ({ type: 'session.creating', at: 1 })),
]

test.each([
  ['still has it is shortened', 5, ['delete', 'put']],
  ['has it under another number is left alone', 6, []],
  ['has it no more is left alone', undefined, []],
] as const)('a long history of which the database %s', async (_what, kept, expected) => {
  const { database, changed } = databaseWith(kept)

  await shorten(database, 'k', { session: 5, records, last: 9, length: 1_000_000 })

  expect(changed).toEqual(expected)
})
