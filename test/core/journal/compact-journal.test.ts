import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { compactRecords } from '../../../src/core/journal/compact-journal.ts'
import { foldFound, foldJournal } from '../../../src/core/journal/fold-journal.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { recordFromText, recordText } from '../../../src/core/journal/record-text.ts'
import { makeReceipt } from '../../../src/flows/receipt.ts'
import { fewOrMany } from '../../helpers/long-run.ts'

const planned = (fileIndex: number, partCount: number) => ({
  ...{ fileIndex, name: `clip-${String(fileIndex)}`, sizeBytes: partCount * 10, partCount, partSizeBytes: 10 },
})
const addressed = (fileIndex: number, partCount: number, round = 0) => ({
  ...{ fileIndex, serverFileId: `s${String(fileIndex)}-${String(round)}` },
  addresses: Array.from(
    { length: partCount },
    (_, index) => `https://store.example/${String(fileIndex)}/${String(index)}`,
  ),
})
const begun = (partCounts: readonly number[]): JournalRecord => ({
  ...{ type: 'session.begun', at: 1, version: 1, key: 'night-1', flow: 'video', params: { playerId: 'p' } },
  files: partCounts.map((count, index) => planned(index, count)),
  locations: partCounts.map((_, index) => `/clips/${String(index)}`),
})
const received = (fileIndex: number, partNumber: number, etag: string): JournalRecord => ({
  ...{ type: 'part.received', at: 9, fileIndex, partNumber },
  receipt: { acceptedEnd: partNumber * 10, etag, isVerified: true },
})

/** Any record that fits a plan, in any order: more than a session would ever write. */
function anyRecord(partCounts: readonly number[]): fc.Arbitrary<JournalRecord> {
  const at = fc.nat(1000)
  const file = fc.nat(partCounts.length - 1)
  const part = file.chain((fileIndex) =>
    fc.record({
      at,
      fileIndex: fc.constant(fileIndex),
      partNumber: fc.integer({ min: 1, max: partCounts[fileIndex]! }),
    }),
  )
  const files = fc
    .tuple(fc.uniqueArray(file), fc.nat(3))
    .map(([indexes, round]) => indexes.map((index) => addressed(index, partCounts[index]!, round)))
  const error = fc
    .constantFrom('ERR_UPLOAD_NETWORK', 'ERR_UPLOAD_ADDRESS_REFUSED', 'ERR_UPLOAD_CONFIRM_REFUSED')
    .map((code) => ({ code, message: 'gone' }) as const)
  const generation = fc.nat(2)
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.tuple(at, files, fc.nat(3)).map(([time, list, sessionId]): JournalRecord => ({
        ...{ type: 'session.replaced', at: time, sessionId, files: list },
      })),
    },
    { weight: 2, arbitrary: at.map((time): JournalRecord => ({ type: 'session.resumed', at: time })) },
    at.map((time): JournalRecord => ({ type: 'session.refused', at: time })),
    {
      weight: 2,
      arbitrary: fc
        .tuple(at, fc.nat(3))
        .map(([time, sessionId]): JournalRecord => ({ type: 'session.ended', at: time, sessionId })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(at, fc.nat(3))
        .map(([time, sessionId]): JournalRecord => ({ type: 'session.left', at: time, sessionId })),
    },
    fc
      .tuple(part, generation)
      .map(([fields, of]): JournalRecord => ({ ...fields, type: 'part.doubtful', generation: of })),
    {
      weight: 4,
      arbitrary: fc.tuple(part, generation, fc.string()).map(([fields, of, etag]): JournalRecord => ({
        ...{ ...fields, type: 'part.received', generation: of },
        receipt: { acceptedEnd: fields.partNumber * 10, etag, isVerified: true },
      })),
    },
    { weight: 1, arbitrary: at.map((time): JournalRecord => ({ type: 'session.creating', at: time })) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          at,
          files,
          fc.nat(3),
          fc.option(fc.boolean(), { nil: undefined }),
          fc.constantFrom(undefined, 'a:1', 'b:1'),
        )
        .map(([time, list, sessionId, hasPossibleOrphan, host]): JournalRecord => ({
          ...{ type: 'session.created', at: time, sessionId, files: list },
          ...(hasPossibleOrphan === undefined ? {} : { hasPossibleOrphan }),
          ...(host === undefined ? {} : { host }),
        })),
    },
    fc.tuple(at, fc.uniqueArray(file)).map(([time, fileIndexes]): JournalRecord => ({
      ...{ type: 'files.registering', at: time, fileIndexes },
    })),
    {
      weight: 3,
      arbitrary: fc
        .tuple(at, files)
        .map(([time, list]): JournalRecord => ({ type: 'files.registered', at: time, files: list })),
    },
    part.map((fields): JournalRecord => ({ ...fields, type: 'part.doubtful' })),
    {
      weight: 8,
      arbitrary: fc.tuple(part, fc.string(), fc.boolean()).map(([fields, etag, isWhole]): JournalRecord => ({
        ...{ ...fields, type: 'part.received' },
        receipt: { acceptedEnd: fields.partNumber * 10 - (isWhole ? 0 : 3), etag, isVerified: isWhole },
      })),
    },
    part.map(({ at: time, fileIndex, partNumber }): JournalRecord => ({
      ...{ type: 'parts.voided', at: time, fileIndex, partNumbers: [partNumber] },
    })),
    fc.tuple(at, file).map(([time, fileIndex]): JournalRecord => ({ type: 'file.confirming', at: time, fileIndex })),
    fc.tuple(at, file, fc.boolean()).map(([time, fileIndex, isRead]): JournalRecord => ({
      ...{ type: 'file.confirmed', at: time, fileIndex },
      ...(isRead ? { sha256: 'ab'.repeat(32) } : {}),
    })),
    fc.tuple(at, file, error).map(([time, fileIndex, failure]): JournalRecord => ({
      ...{ type: 'file.failed', at: time, fileIndex, error: failure },
    })),
    fc.tuple(at, fc.boolean()).map(([time, keepsConfirmed]): JournalRecord => ({
      ...{ type: 'session.cancelling', at: time, keepsConfirmed },
    })),
    fc.tuple(at, fc.boolean()).map(([time, isServiceTold]): JournalRecord => ({
      ...{ type: 'session.cancelled', at: time, isServiceTold },
    })),
    fc
      .tuple(at, fc.constantFrom('confirmed', 'partial', 'cancelled', 'failed'))
      .map(([time, status]): JournalRecord => ({ type: 'session.settled', at: time, status })),
  )
}

const anyHistory = fc
  .array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 })
  .chain((partCounts) => fc.tuple(fc.constant(begun(partCounts)), fc.array(anyRecord(partCounts), { maxLength: 40 })))
  .map(([first, rest]) => [first, ...rest])
  .filter((records) => {
    try {
      foldJournal(records)
      return true
    } catch {
      return false
    }
  })

/** As a journal keeps it: whatever is lost in the text is lost. */
function shortened(records: readonly JournalRecord[]): readonly JournalRecord[] {
  return compactRecords(records).map((record, index) => recordFromText(recordText(record), 'night-1', index + 1))
}

describe('compactRecords', () => {
  it('folds to exactly the same state, whatever the history is', () => {
    fc.assert(
      fc.property(anyHistory, (records) => {
        const shorter = shortened(records)

        expect(foldJournal(shorter)).toEqual(foldJournal(records))
        // Also for a life that has not ended: what it has asked for may still be answered.
        expect(foldFound(shorter)).toEqual(foldFound(records))
        expect(makeReceipt(shorter)).toEqual(makeReceipt(records))
        expect(shorter.length).toBe(Math.min(records.length, 2))
      }),
      { numRuns: fewOrMany(500, 10_000) },
    )
  })

  it('may be shortened at any time and again, and goes on from there alike', () => {
    const cuts = fc.array(fc.nat(100), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(anyHistory, cuts, (records, lengths) => {
        let kept: readonly JournalRecord[] = []
        let from = 0
        for (const length of lengths.toSorted((one, other) => one - other)) {
          kept = shortened([...kept, ...records.slice(from, Math.max(from, length))])
          from = Math.max(from, length)
        }

        expect(foldFound([...kept, ...records.slice(from)])).toEqual(foldFound(records))
      }),
      { numRuns: fewOrMany(400, 10_000) },
    )
  })

  it('finds nothing to shorten in what it made', () => {
    fc.assert(
      fc.property(anyHistory, (records) => {
        const once = compactRecords(records)
        expect(compactRecords(once)).toBe(once)
      }),
    )
  })

  it('shortens a night of replaced sessions and resumes to what is known at its end, and goes on from there alike', () => {
    const life = fc.record({
      partCounts: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
      lives: fc.array(fc.constantFrom('replaced', 'resumed', 'renewed'), { minLength: 2, maxLength: 12 }),
      doneFirst: fc.boolean(),
      late: fc.nat(4),
    })
    fc.assert(
      fc.property(life, ({ partCounts, lives, doneFirst, late }) => {
        const all = (round: number) => partCounts.map((count, index) => addressed(index, count, round))
        const records: JournalRecord[] = [begun(partCounts), { type: 'session.creating', at: 2 }]
        records.push({ type: 'session.created', at: 3, sessionId: 's0', files: all(0) })
        if (doneFirst) {
          for (let part = 1; part <= partCounts[0]!; part += 1) records.push(received(0, part, '"a"'))
          records.push(
            { type: 'file.confirming', at: 4, fileIndex: 0 },
            { type: 'file.confirmed', at: 5, fileIndex: 0 },
          )
        }
        let generation = 0
        lives.forEach((event, index) => {
          const [at, round] = [10 + index, index + 1]
          for (const [fileIndex] of partCounts.entries()) {
            if (doneFirst && fileIndex === 0) continue
            const of = { at, fileIndex, partNumber: 1, generation } as const
            if (fileIndex > 0)
              records.push({ ...of, type: 'part.received', receipt: { acceptedEnd: 3, isVerified: false } })
            records.push({ ...of, type: 'part.doubtful' })
          }
          if (event === 'resumed') records.push({ type: 'session.resumed', at })
          else if (event === 'renewed') records.push({ type: 'files.registered', at, files: all(round) })
          else records.push({ type: 'session.replaced', at, sessionId: `s${String(round)}`, files: all(round) })
          if (event === 'replaced') generation += 1
        })
        const shorter = shortened(records)

        const addresses = JSON.stringify(shorter).match(/https:/g)
        expect(addresses).toHaveLength(partCounts.reduce((sum, count) => sum + count, 0))
        expect(shorter).toHaveLength(2)
        expect(foldJournal(shorter)).toEqual(foldJournal(records))
        // What a later life writes, an answer of an earlier generation included, does the same to both.
        const next: JournalRecord[] = [
          { ...received(partCounts.length - 1, 1, '"n"'), generation: Math.max(0, generation - late) } as JournalRecord,
          { type: 'session.resumed', at: 99 },
          { type: 'session.replaced', at: 100, sessionId: 'n', files: all(99) },
          { type: 'session.cancelling', at: 101 },
        ]
        expect(foldJournal([...shorter, ...next])).toEqual(foldJournal([...records, ...next]))
      }),
    )
  })

  const creating = { type: 'session.creating', at: 2 } as const
  const refused = { type: 'session.refused', at: 3 } as const
  const created = { type: 'session.created', at: 4, sessionId: 7 } as const
  const left = (sessionId: number) => ({ type: 'session.left', at: 2, sessionId }) as const
  const registering = (at: number, ...fileIndexes: number[]) =>
    ({ type: 'files.registering', at, fileIndexes }) as const
  const registered = { type: 'files.registered', at: 6, files: [addressed(0, 2)] } as const
  const opened = { ...created, files: [addressed(0, 2)] }
  const resumed = (at: number) => ({ type: 'session.resumed', at }) as const
  const settled = (status: 'partial' | 'failed' | 'cancelled') => ({ type: 'session.settled', at: 9, status }) as const
  const cancelling = { type: 'session.cancelling', at: 8 } as const
  const cancelled = { type: 'session.cancelled', at: 9, isServiceTold: true } as const
  const voided = { type: 'parts.voided', at: 6, fileIndex: 0, partNumbers: [1] } as const
  const confirming = (at: number) => ({ type: 'file.confirming', at, fileIndex: 0 }) as const
  const confirmed = { type: 'file.confirmed', at: 7, fileIndex: 0 } as const
  const doubtful = (partNumber: number) => ({ type: 'part.doubtful', at: 5, fileIndex: 0, partNumber }) as const
  const failed = {
    type: 'file.failed',
    at: 6,
    fileIndex: 0,
    error: { code: 'ERR_UPLOAD_NETWORK', message: '' },
  } as const
  const both = [received(0, 1, '"a"'), received(0, 2, '"b"')]

  it.each<[string, JournalRecord[]]>([
    ['a create that was never answered', [creating, creating, creating]],
    ['creates that were refused after one that was never answered', [creating, creating, refused, creating, refused]],
    [
      'the same with sessions that could not be used',
      [creating, left(4), creating, creating, left(5), refused, creating, refused],
    ],
    ['a create that was refused first', [creating, refused, creating, created]],
    [
      'names of which one is registered, and one was asked for',
      [creating, created, registering(5, 0, 1), registered, registering(7, 1), registering(8, 1)],
    ],
    ['a part that was sent and voided', [creating, opened, received(0, 1, '"a"'), voided]],
    ['lives that left a part on its way', [creating, opened, received(0, 2, '"b"'), resumed(7), resumed(8)]],
    ['a part that was in doubt and sent again', [creating, opened, doubtful(1), received(0, 1, '"a"'), resumed(7)]],
    [
      'a file that is being confirmed, and was asked for twice',
      [creating, opened, ...both, confirming(5), confirming(6)],
    ],
    ['a file that was not confirmed, and goes again', [creating, opened, ...both, confirming(5), voided]],
    ['a file that is tried once more after it had failed', [creating, opened, failed, resumed(7)]],
    [
      'one that was given up but for what was confirmed',
      [
        ...[creating, opened, ...both, confirming(5), confirmed],
        ...[{ ...cancelling, keepsConfirmed: true }, cancelled, settled('cancelled')],
      ],
    ],
    ['one that is being given up', [creating, opened, settled('partial'), resumed(7), cancelling, cancelling]],
    ['one that was given up', [creating, opened, cancelling, cancelled, settled('cancelled')]],
    ['one that failed twice', [creating, opened, settled('failed'), settled('failed')]],
    ['one that asks for another', [creating, opened, creating, refused, creating]],
    [
      'sessions that could not be used, and of which the service has yet to be told',
      [left(4), left(5), left(6), { type: 'session.ended', at: 7, sessionId: 5 }],
    ],
  ])('keeps what is known of %s, and goes on from there alike', (_what, history) => {
    const records = [begun([2, 1]), ...history]
    const next: JournalRecord[] = [
      { type: 'session.resumed', at: 99 },
      { type: 'session.replaced', at: 100, sessionId: 'n', files: [addressed(0, 2, 9)] },
      { ...received(0, 2, '"n"'), generation: 1 } as JournalRecord,
      creating,
      { type: 'files.registered', at: 101, files: [addressed(1, 1, 9)] },
    ]
    const shorter = shortened(records)

    expect(shorter).toHaveLength(2)
    expect(foldJournal(shorter)).toEqual(foldJournal(records))
    expect(foldJournal([...shorter, ...next])).toEqual(foldJournal([...records, ...next]))
  })

  it('is kept from nothing by an answer of an earlier session that came late', () => {
    const files = [addressed(0, 1)]
    const late = { ...received(0, 1, '"old"'), generation: 0 } as JournalRecord
    const own = { ...received(0, 1, '"new"'), generation: 1 } as JournalRecord
    const history: JournalRecord[] = [
      begun([1]),
      { type: 'session.creating', at: 2 },
      { type: 'session.created', at: 3, sessionId: 's0', files },
      { type: 'session.replaced', at: 4, sessionId: 's1', files },
      own,
      late,
    ]

    const shorter = shortened(history)

    expect(JSON.stringify(shorter)).not.toContain('old')
    expect(foldJournal(shorter).ledger.files[0]?.parts[0]?.receipt?.etag).toBe('"new"')
    expect(foldJournal(shorter)).toEqual(foldJournal(history))
  })

  it('writes what programs of this version find on disks, word for word, or theirs would be lost', () => {
    const history: JournalRecord[] = [
      begun([2, 1]),
      { type: 'session.creating', at: 2 },
      { type: 'session.left', at: 3, sessionId: 6 },
      { type: 'session.creating', at: 4 },
      { type: 'session.created', at: 5, sessionId: 7, files: [addressed(0, 2)] },
      received(0, 1, '"a"'),
      { type: 'part.doubtful', at: 10, fileIndex: 0, partNumber: 2 },
      {
        ...{ type: 'file.failed', at: 11, fileIndex: 0 },
        error: { code: 'ERR_UPLOAD_ADDRESS_REFUSED', message: 'no' },
      } as const,
      { type: 'files.registering', at: 12, fileIndexes: [1] },
    ]

    expect(JSON.parse(recordText(compactRecords(history)[1]!))).toEqual({
      type: 'session.kept',
      at: 12,
      standing: { place: 'created', sessionId: 7, leftSessionIds: [6], isReplacing: false, hasPossibleOrphan: true },
      files: [
        {
          ...{ fileIndex: 0, state: 'failed', sessionId: 7, generation: 0, serverFileId: 's0-0' },
          ...{ addresses: ['https://store.example/0/0', 'https://store.example/0/1'], addressedAtMs: 5 },
          ...{ isRegistering: false, mayBeConfirmed: false },
          error: { code: 'ERR_UPLOAD_ADDRESS_REFUSED', message: 'no' },
          parts: [
            {
              ...{ receipt: { acceptedEnd: 10, etag: '"a"', isVerified: true }, receivedAtMs: 9 },
              isDoubtful: false,
            },
            { isDoubtful: true },
          ],
        },
        {
          ...{ fileIndex: 1, state: 'planned', generation: 0, addresses: [], addressedAtMs: 0, isRegistering: true },
          mayBeConfirmed: false,
          parts: [{ isDoubtful: false }],
        },
      ],
    })
  })

  it('never puts in the place of a history what could not be read again', () => {
    const unheardOf = { type: 'session.settled', at: 3, status: 'lost' as 'failed' } as const
    const history: JournalRecord[] = [begun([1]), { type: 'session.creating', at: 2 }, unheardOf]

    expect(foldJournal(history).place).toBe('lost')
    expect(compactRecords(history)).toBe(history)
  })

  it('leaves alone what it cannot fold', () => {
    const odd: JournalRecord[] = [
      { type: 'session.creating', at: 1 },
      { type: 'session.creating', at: 2 },
    ]

    expect(compactRecords(odd)).toBe(odd)
  })
})
