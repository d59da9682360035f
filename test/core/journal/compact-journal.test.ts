import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { compactRecords } from '../../../src/core/journal/compact-journal.ts'
import { foldJournal } from '../../../src/core/journal/fold-journal.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'

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
  const error = { code: 'ERR_UPLOAD_NETWORK', message: 'gone' } as const
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
        .tuple(at, files, fc.nat(3), fc.option(fc.boolean(), { nil: undefined }))
        .map(([time, list, sessionId, hasPossibleOrphan]): JournalRecord => ({
          ...{ type: 'session.created', at: time, sessionId, files: list },
          ...(hasPossibleOrphan === undefined ? {} : { hasPossibleOrphan }),
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
    fc.tuple(at, file).map(([time, fileIndex]): JournalRecord => ({ type: 'file.confirmed', at: time, fileIndex })),
    fc.tuple(at, file).map(([time, fileIndex]): JournalRecord => ({ type: 'file.failed', at: time, fileIndex, error })),
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

describe('compactRecords', () => {
  it('folds to exactly the same state, whatever the history is', () => {
    fc.assert(
      fc.property(anyHistory, (records) => {
        expect(foldJournal(compactRecords(records))).toEqual(foldJournal(records))
        expect(compactRecords(records).length).toBeLessThanOrEqual(records.length)
      }),
      { numRuns: 1500 },
    )
  })

  it('finds nothing to shorten in what it made', () => {
    fc.assert(
      fc.property(anyHistory, (records) => {
        const once = compactRecords(records)
        expect(compactRecords(once)).toEqual(once)
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
        const shorter = compactRecords(records)

        const addressLists = shorter.flatMap((record) =>
          'files' in record && record.type !== 'session.begun' ? record.files : [],
        )
        expect(addressLists).toHaveLength(partCounts.length)
        expect(shorter.length).toBeLessThan(records.length)
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

  it('keeps one record for each thing that is known of a session that went through much', () => {
    const error = { code: 'ERR_UPLOAD_NETWORK', message: 'gone' } as const
    const history: JournalRecord[] = [
      begun([2, 1, 1]),
      { type: 'session.creating', at: 2 },
      { type: 'session.creating', at: 3 },
      { type: 'session.created', at: 4, sessionId: 7, files: [addressed(0, 2), addressed(1, 1), addressed(2, 1)] },
      { type: 'part.doubtful', at: 5, fileIndex: 0, partNumber: 1 },
      received(0, 1, '"a"'),
      received(0, 2, '"b"'),
      { type: 'file.confirming', at: 6, fileIndex: 0 },
      { type: 'parts.voided', at: 7, fileIndex: 0, partNumbers: [1] },
      received(0, 1, '"c"'),
      { type: 'file.confirming', at: 8, fileIndex: 0 },
      { type: 'file.confirmed', at: 9, fileIndex: 0 },
      { type: 'file.failed', at: 10, fileIndex: 1, error },
      { type: 'part.doubtful', at: 11, fileIndex: 2, partNumber: 1 },
    ]

    expect(compactRecords(history)).toEqual([
      history[0],
      { type: 'session.created', at: 4, sessionId: 7, hasPossibleOrphan: true },
      {
        ...{ type: 'files.placed', at: 4, sessionId: 7, generation: 0 },
        files: [addressed(0, 2), addressed(1, 1), addressed(2, 1)],
      },
      received(0, 1, '"c"'),
      received(0, 2, '"b"'),
      history[13],
      history[11],
      history[12],
    ])
  })

  const creating = { type: 'session.creating', at: 2 } as const
  const refused = { type: 'session.refused', at: 3 } as const
  const created = { type: 'session.created', at: 4, sessionId: 7 } as const
  const left = (sessionId: number) => ({ type: 'session.left', at: 2, sessionId }) as const
  const registering = (at: number, ...fileIndexes: number[]) =>
    ({ type: 'files.registering', at, fileIndexes }) as const
  const registered = { type: 'files.registered', at: 6, files: [addressed(0, 2)] } as const
  const placed = (sessionId: number | undefined, at: number) =>
    ({ ...{ type: 'files.placed', at, sessionId, generation: 0 }, files: [addressed(0, 2)] }) as JournalRecord
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

  it.each<[string, JournalRecord[], JournalRecord[]]>([
    ['a create that was never answered', [creating, creating, creating], [creating]],
    [
      'creates that were refused after one that was never answered',
      [creating, creating, refused, creating, refused],
      [creating, creating, refused],
    ],
    [
      'the same with sessions that could not be used',
      [creating, left(4), creating, creating, left(5), refused, creating, refused],
      [creating, creating, left(4), left(5), refused],
    ],
    ['a create that was refused first', [creating, refused, creating, created], [created]],
    [
      'names of which one is registered, and one was asked for',
      [creating, created, registering(5, 0, 1), registered, registering(7, 1), registering(8, 1)],
      [created, placed(undefined, 6), registering(8, 1)],
    ],
    ['names that are registered', [creating, created, registering(5, 0), registered], [created, placed(undefined, 6)]],
    ['a part that was sent and voided', [creating, opened, received(0, 1, '"a"'), voided], [created, placed(7, 4)]],
    [
      'lives that left a part on its way, beside a file without addresses',
      [creating, opened, received(0, 2, '"b"'), resumed(7), resumed(8)],
      [created, placed(7, 4), received(0, 2, '"b"'), resumed(8)],
    ],
    [
      'a life that came when all was there',
      [creating, opened, received(0, 1, '"a"'), received(0, 2, '"b"'), resumed(7)],
      [created, placed(7, 4), received(0, 1, '"a"'), received(0, 2, '"b"')],
    ],
    [
      'lives that left the only part of a file on its way',
      [creating, { ...created, files: [addressed(1, 1)] }, resumed(7), resumed(8)],
      [created, { ...placed(7, 4), files: [addressed(1, 1)] } as JournalRecord, resumed(8)],
    ],
    [
      'a life that left parts on their way, and names that were registered after it',
      [creating, opened, resumed(6), resumed(7), resumed(7), { ...registered, at: 8, files: [addressed(1, 1)] }],
      [
        ...[created, placed(7, 4), { ...placed(undefined, 8), files: [addressed(1, 1)] } as JournalRecord],
        ...[1, 2].map((partNumber): JournalRecord => ({ ...doubtful(partNumber), at: 7, generation: 0 })),
      ],
    ],
    [
      'a life that came after a part that was in doubt had been sent again',
      [creating, opened, doubtful(1), received(0, 1, '"a"'), resumed(7), resumed(8)],
      [created, placed(7, 4), received(0, 1, '"a"'), resumed(8), doubtful(1)],
    ],
    [
      'parts that are all in doubt, in the life that sent them',
      [creating, refused, creating, opened, doubtful(1), doubtful(2)],
      [created, placed(7, 4), doubtful(1), doubtful(2)],
    ],
    [
      'a file that is being confirmed, and was asked for twice',
      [creating, opened, ...both, confirming(5), confirming(6)],
      [created, placed(7, 4), ...both, confirming(6)],
    ],
    [
      'a file that was not confirmed, and goes again',
      [creating, opened, ...both, confirming(5), voided],
      [created, placed(7, 4), received(0, 2, '"b"')],
    ],
    [
      'a file that is tried once more after it had failed',
      [creating, opened, failed, resumed(7)],
      [created, placed(7, 4), resumed(7)],
    ],
    [
      'one that was given up but for what was confirmed',
      [
        ...[creating, opened, ...both, confirming(5), confirmed],
        ...[{ ...cancelling, keepsConfirmed: true }, cancelled, settled('cancelled')],
      ],
      [
        ...[created, placed(7, 4), ...both, confirmed],
        ...[{ ...cancelling, keepsConfirmed: true }, cancelled, settled('cancelled')],
      ],
    ],
    [
      'a part that is in doubt though it was sent again',
      [
        creating,
        opened,
        received(0, 2, '\"b\"'),
        received(0, 2, '\"c\"'),
        { type: 'part.doubtful', at: 5, fileIndex: 0, partNumber: 2 },
      ],
      [created, placed(7, 4), received(0, 2, '\"c\"'), { type: 'part.doubtful', at: 5, fileIndex: 0, partNumber: 2 }],
    ],
    [
      'one that is being given up',
      [creating, opened, settled('partial'), resumed(7), cancelling, cancelling],
      [created, placed(7, 4), resumed(7), cancelling],
    ],
    [
      'one that was given up',
      [creating, opened, cancelling, cancelled, settled('cancelled')],
      [created, placed(7, 4), cancelled, settled('cancelled')],
    ],
    [
      'one that failed twice',
      [creating, opened, settled('failed'), settled('failed')],
      [created, placed(7, 4), settled('failed')],
    ],
    [
      'one that asks for another',
      [creating, opened, creating, refused, creating],
      [{ ...created, hasPossibleOrphan: true }, placed(7, 4), creating],
    ],
  ])('keeps no more than is known of %s', (_what, history, kept) => {
    const first = begun([2, 1])

    expect(compactRecords([first, ...history])).toEqual([first, ...kept])
  })

  it('keeps sessions that could not be used and of which the service has yet to be told', () => {
    const tries = [4, 5, 6].flatMap((sessionId): JournalRecord[] => [
      { type: 'session.creating', at: sessionId },
      { type: 'session.left', at: sessionId, sessionId },
      { type: 'session.refused', at: sessionId },
    ])
    const history = [begun([1]), ...tries, { type: 'session.ended', at: 7, sessionId: 5 } as const]

    expect(compactRecords(history)).toEqual([
      history[0],
      { type: 'session.left', at: 6, sessionId: 4 },
      { type: 'session.left', at: 6, sessionId: 6 },
    ])
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

    const shorter = compactRecords(history)

    expect(shorter).toContainEqual(own)
    expect(shorter).not.toContainEqual(late)
    expect(foldJournal(shorter)).toEqual(foldJournal(history))
  })

  it('leaves alone what it cannot fold', () => {
    const odd: JournalRecord[] = [
      { type: 'session.creating', at: 1 },
      { type: 'session.creating', at: 2 },
    ]

    expect(compactRecords(odd)).toBe(odd)
  })
})
