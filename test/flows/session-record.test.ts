// The record of a live session: what it knows is what its journal would tell the next life.

import { expect, it } from 'vitest'

import { foldJournal } from '../../src/core/journal/fold-journal.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import { fileAt } from '../../src/core/journal/ledger.ts'
import type { Journal } from '../../src/core/ports.ts'
import { createSessionRecord } from '../../src/flows/session-record.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const PLAN = { fileIndex: 0, name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
const BEGUN = { version: JOURNAL_VERSION, key: 'k', flow: 'video', params: {}, files: [PLAN], locations: [] } as const

/** A journal whose replacements take long to reach the disk, and whose receipts do not wait for it. */
function slowJournal(atOnce: () => Promise<void> | undefined): {
  readonly journal: Journal
  readonly written: JournalRecord[]
  readonly sync: () => void
} {
  const written: JournalRecord[] = []
  let sync = (): void => undefined
  const append = (records: readonly JournalRecord[]): Promise<void> | undefined => {
    written.push(...records)
    if (records[0]?.type !== 'session.replaced') return atOnce()
    return new Promise((resolve) => (sync = resolve))
  }
  const session = { key: 'k', records: [], append, close: () => Promise.resolve() }
  const none = (): Promise<never> => Promise.reject(new Error('not used here'))
  return {
    journal: { open: () => Promise.resolve(session), read: none, list: none, remove: none },
    written,
    sync: () => sync(),
  }
}

it.each([
  ['soon', () => Promise.resolve()],
  ['at once', () => undefined],
])(
  'applies records in the order of the journal, although some are settled before earlier ones: %s',
  async (_, atOnce) => {
    const { journal, written, sync } = slowJournal(atOnce)
    const record = createSessionRecord(journal, createSimulatedClock(), 'k')
    await record.write({ type: 'session.begun', ...BEGUN })
    const address = (session: string) => [{ fileIndex: 0, addresses: [`https://s.test/${session}`] }]
    await record.write({ type: 'session.created', sessionId: 's1', files: address('s1') })

    const replaced = record.write({ type: 'session.replaced', sessionId: 's2', files: address('s2') })
    const receipt = { acceptedEnd: 3, etag: '"of s1"', isVerified: true }
    const received = record.write({ type: 'part.received', fileIndex: 0, partNumber: 1, generation: 0, receipt })
    await new Promise((resolve) => setImmediate(resolve))
    sync()
    await Promise.all([replaced, received])

    const file = fileAt(record.ledger(), 0)
    expect([file.state, file.sessionId, file.receivedCount]).toEqual(['ready', 's2', 0])
    expect(record.ledger()).toEqual(foldJournal(written).ledger)
    // With nothing before it any more, a record waits only for the disk.
    const resumed = record.write({ type: 'session.resumed' })
    expect(resumed === undefined).toBe(atOnce() === undefined)
    await resumed
  },
)
