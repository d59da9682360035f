// The times of a receipt: when parts came and files were confirmed, of a history that was shortened too, and of one that a hand
// has written into.

import { expect, it } from 'vitest'

import { compactRecords } from '../../src/core/journal/compact-journal.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import { makeReceipt } from '../../src/flows/receipt.ts'

const received = (at: number): JournalRecord => ({
  ...{ at, type: 'part.received', fileIndex: 0, partNumber: 1 },
  receipt: { acceptedEnd: 3, etag: '"e"', isVerified: true },
})
const history = (at: number): readonly JournalRecord[] => [
  {
    ...{ at: 951_782_400_000, type: 'session.begun', version: JOURNAL_VERSION, key: 'k', flow: 'custom', params: {} },
    files: [{ fileIndex: 0, name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }],
    locations: [],
  },
  { at, type: 'session.created', sessionId: 's', files: [{ fileIndex: 0, addresses: ['https://s.test/1'] }] },
  received(1),
  { at, type: 'parts.voided', fileIndex: 0, partNumbers: [1] },
  received(at),
  { at: at + 1, type: 'file.confirmed', fileIndex: 0 },
  { at: at + 2, type: 'session.settled', status: 'confirmed' },
]

function timesOf(records: readonly JournalRecord[]): readonly (string | undefined)[] {
  const { beganAt, lastRecordAt, files } = makeReceipt(records)
  return [beganAt, files[0]?.parts[0]?.receivedAt, files[0]?.confirmedAt, lastRecordAt]
}

it('are those of the newest records, as UTC, also where the history was shortened', () => {
  const records = history(1_795_179_900_250)
  const times = [
    '2000-02-29T00:00:00.000Z',
    '2026-11-20T13:05:00.250Z',
    '2026-11-20T13:05:00.251Z',
    '2026-11-20T13:05:00.252Z',
  ]

  expect(timesOf(records)).toEqual(times)
  expect(timesOf(compactRecords(records))).toEqual(times)
})

it.each([
  ['before there were any', -1e300, '1970-01-01T00:00:00.000Z'],
  ['after the last', 1e300, '+275760-09-13T00:00:00.000Z'],
  ['that are no numbers', 'now' as unknown as number, '1970-01-01T00:00:00.000Z'],
])('are shown as times that there are where a hand has written some %s', (_what, at, shown) => {
  expect(timesOf(history(at)).slice(1)).toEqual([shown, shown, shown])
})
