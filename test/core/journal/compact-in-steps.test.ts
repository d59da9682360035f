import { describe, expect, it } from 'vitest'

import { compactTexts } from '../../../src/core/journal/compact-in-steps.ts'
import { compactRecords } from '../../../src/core/journal/compact-journal.ts'
import { foldFound } from '../../../src/core/journal/fold-journal.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { encodeHeader, encodeLines, encodingLines } from '../../../src/core/journal/journal-lines.ts'
import { recordText } from '../../../src/core/journal/record-text.ts'
import { atOnce, type Steps } from '../../../src/core/journal/steps.ts'
import { decodeJournal } from '../../helpers/decode-journal.ts'

/** A night of `fileCount` files of which each has its address, its receipt and its confirmation. */
function night(fileCount: number): JournalRecord[] {
  const files = Array.from({ length: fileCount }, (_, fileIndex) => fileIndex)
  return [
    {
      ...{ type: 'session.begun', at: 1, version: 1, key: 'k', flow: 'capture', params: { orgId: 'ö' } },
      files: files.map((fileIndex) => ({
        ...{ fileIndex, name: `${String(fileIndex)}.action`, sizeBytes: 10, partCount: 1, partSizeBytes: 10 },
      })),
      locations: files.map((fileIndex) => `/night/${String(fileIndex)}.action`),
    },
    { type: 'session.created', at: 2, sessionId: 's', host: 'service.example:443' },
    {
      ...{ type: 'files.registered', at: 3 },
      files: files.map((fileIndex) => ({ fileIndex, addresses: [`https://store.test/${String(fileIndex)}`] })),
    },
    ...files.flatMap((fileIndex): JournalRecord[] => [
      { type: 'part.received', at: 4, fileIndex, partNumber: 1, receipt: { acceptedEnd: 10, isVerified: false } },
      { type: 'file.confirmed', at: 5, fileIndex },
    ]),
  ]
}

/** The bytes of a journal that holds these texts. */
function journalOf(texts: readonly string[]): Uint8Array {
  return Buffer.concat([encodeHeader({ key: 'k', begunUs: 1 }), encodeLines(texts, 1, texts.length)])
}

function countSteps(steps: Steps<unknown>): number {
  let count = 1
  while (!steps.next().done) count += 1
  return count
}

describe('compacting in steps', () => {
  it.each([0, 3])('writes what compacting at once writes, of %d files', (count) => {
    const records = night(count)

    expect(atOnce(compactTexts(records))).toEqual(compactRecords(records).map(recordText))
    expect(atOnce(compactTexts(compactRecords(records)))).toBeUndefined()
  })

  it('writes the files of a long night in lines of bounded length, which are read as the one record that they are', () => {
    const records = night(2_500)

    const texts = atOnce(compactTexts(records))!
    const found = decodeJournal(journalOf(texts), 'journal').records

    expect(texts.slice(1).map((text) => text.split('"fileIndex"').length - 1)).toEqual([1_000, 1_000, 500])
    expect(found.map((record) => record.type)).toEqual(['session.begun', 'session.kept'])
    expect(foldFound(found)).toEqual(foldFound(records))
  })

  it('finds that a line of them is missing', () => {
    const [begun, ...pieces] = atOnce(compactTexts(night(2_500)))!

    const found = decodeJournal(journalOf([begun!, pieces[0]!, pieces[2]!]), 'journal').records

    expect(() => foldFound(found)).toThrow('is damaged: a record of type session.kept does not fit')
  })

  it('joins nothing else to them, nor what somebody wrote by hand', () => {
    const [, kept] = compactRecords(night(1))
    const hand = { type: 'session.kept', at: 6, standing: {}, files: 'none' } as unknown as JournalRecord
    const registered: JournalRecord = { type: 'files.registered', at: 7, files: [{ fileIndex: 0, addresses: ['a'] }] }
    const records = [registered, kept!, registered, hand, hand, kept!, hand]

    expect(decodeJournal(journalOf(records.map(recordText)), 'journal').records).toEqual(records)
  })

  it('takes a step for each record, file and line, and for each megabyte of a line', () => {
    const records = night(100)

    expect(countSteps(compactTexts(records))).toBeGreaterThan(records.length + 100)
    expect(countSteps(encodingLines(['x'.repeat(3 * 2 ** 20), 'y'], 1, 0))).toBe(5)
  })
})
