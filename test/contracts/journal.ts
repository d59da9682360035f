// What every Journal promises, wherever it keeps its records.

import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'

import type { JournalRecord } from '../../src/core/journal/journal.ts'
import type { Journal, SessionJournal } from '../../src/core/ports.ts'

export interface JournalSubject {
  readonly journal: Journal
  /** Another instance over the same place, as another process has it. Absent where a place cannot be shared. */
  readonly another?: () => Journal
  readonly cleanUp?: () => Promise<void>
}

export function journalContract(label: string, make: () => Promise<JournalSubject>): void {
  describe(`${label}: the contract of a journal`, () => {
    const subjects: JournalSubject[] = []
    const sessions: SessionJournal[] = []

    async function begin(): Promise<JournalSubject> {
      const subject = await make()
      subjects.push(subject)
      return subject
    }

    async function open(journal: Journal, key: string): Promise<SessionJournal> {
      const session = await journal.open(key)
      sessions.push(session)
      return session
    }

    async function recordsOf(journal: Journal, key: string): Promise<readonly JournalRecord[]> {
      const session = await open(journal, key)
      await session.close()
      return session.records
    }

    async function endAll(): Promise<void> {
      for (const session of sessions.splice(0)) await session.close()
      for (const subject of subjects.splice(0)) await subject.cleanUp?.()
    }

    afterEach(endAll)

    describe('reading', () => {
      it('shows the records of a session that is open elsewhere, and of none for an unknown key', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')
        await session.append([{ type: 'session.creating', at: 1 }])

        expect(await journal.read('night-1')).toEqual([{ type: 'session.creating', at: 1 }])
        expect(await journal.read('night-2')).toEqual([])
        expect(await journal.list()).toEqual(['night-1'])
      })
    })

    describe('records', () => {
      it('opens a new key without records', async () => {
        const { journal } = await begin()

        const session = await open(journal, 'night-1')

        expect(session.key).toBe('night-1')
        expect(session.records).toEqual([])
      })

      it('gives back every kind of record as it was appended, in order', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')

        await session.append(oneOfEach('night-1'))
        await session.close()

        expect(await recordsOf(journal, 'night-1')).toEqual(oneOfEach('night-1'))
      })

      it('keeps the order of the calls when none is awaited, and keeps them all when it is closed at once', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')

        const appends = Array.from({ length: 200 }, async (_, index) => session.append([received(index)]))
        await session.close()
        await Promise.all(appends)

        expect(await recordsOf(journal, 'night-1')).toEqual(Array.from({ length: 200 }, (_, index) => received(index)))
      })

      it('goes on after the records of earlier openings, however they were batched', async () => {
        const openings = fc.array(fc.array(fc.nat(4), { maxLength: 4 }), { minLength: 1, maxLength: 4 })
        await fc.assert(
          fc.asyncProperty(openings, async (plan) => {
            const { journal } = await begin()
            const expected: JournalRecord[] = []
            for (const batchSizes of plan) {
              const session = await open(journal, 'k')
              expect(session.records).toEqual(expected)
              for (const size of batchSizes) {
                const batch = Array.from({ length: size }, (_, index) => received(expected.length + index))
                await session.append(batch)
                expected.push(...batch)
              }
              await session.close()
            }

            expect(await recordsOf(journal, 'k')).toEqual(expected)
            await endAll()
          }),
          { numRuns: 25 },
        )
      })

      it('takes ten thousand records in one batch', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')

        await session.append(Array.from({ length: 10_000 }, (_, index) => received(index)))
        await session.close()

        const records = await recordsOf(journal, 'night-1')
        expect(records).toHaveLength(10_000)
        expect(records[9_999]).toEqual(received(9_999))
      })

      it('shows the records of the opening, not those appended since', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')

        await session.append([{ type: 'session.creating', at: 1 }])

        expect(session.records).toEqual([])
      })

      it('keeps what was appended, whatever its owner does to it later', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')
        const record = { type: 'parts.voided' as const, at: 5, fileIndex: 0, partNumbers: [1, 2] }
        const batch: JournalRecord[] = [record]

        const appended = session.append(batch)
        record.partNumbers.push(3)
        batch.push({ type: 'session.creating', at: 6 })
        await appended
        record.partNumbers.push(4)
        await session.close()

        const kept = [{ type: 'parts.voided', at: 5, fileIndex: 0, partNumbers: [1, 2] }]
        const first = await recordsOf(journal, 'night-1')
        expect(first).toEqual(kept)
        ;(first as JournalRecord[]).length = 0
        expect(await recordsOf(journal, 'night-1')).toEqual(kept)
      })

      it('refuses to append once it is closed, and can be closed twice', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')

        await session.close()
        await session.close()

        await expect(session.append([{ type: 'session.creating', at: 1 }])).rejects.toMatchObject({
          code: 'ERR_UPLOAD_JOURNAL',
        })
        expect(await recordsOf(journal, 'night-1')).toEqual([])
      })
    })

    describe('the lease', () => {
      it('lets nobody open a key a second time until it is closed', async () => {
        const { journal } = await begin()
        const first = await open(journal, 'night-1')

        await expect(journal.open('night-1')).rejects.toMatchObject({
          code: 'ERR_UPLOAD_JOURNAL',
          message: expect.stringContaining('night-1') as string,
        })
        await first.close()

        expect((await open(journal, 'night-1')).key).toBe('night-1')
      })

      it('gives the key to exactly one of many who open it at once', async () => {
        const { journal } = await begin()

        const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => open(journal, 'night-1')))

        expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
      })

      it('is not given back twice: closing again takes nothing from the next holder', async () => {
        const { journal } = await begin()
        const first = await open(journal, 'night-1')
        await first.close()
        await open(journal, 'night-1')

        await first.close()

        await expect(journal.open('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
      })

      it('does not hold other keys', async () => {
        const { journal } = await begin()
        await open(journal, 'night-1')

        expect((await open(journal, 'night-2')).key).toBe('night-2')
      })

      it('holds against another instance over the same place, which reads the records after it', async () => {
        const { journal, another } = await begin()
        if (another === undefined) return
        const other = another()
        const session = await open(journal, 'night-1')
        await session.append([received(1)])

        await expect(other.open('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
        await session.close()

        expect(await recordsOf(other, 'night-1')).toEqual([received(1)])
        expect(await other.list()).toEqual(['night-1'])
      })
    })

    describe('keys', () => {
      it('lists sessions in the order in which they began, and not those without a record', async () => {
        const { journal } = await begin()
        await open(journal, 'opened only')
        for (const key of ['b', 'a', 'c', 'a']) {
          const session = await open(journal, key)
          await session.append([{ type: 'session.creating', at: 1 }])
          await session.close()
        }

        expect(await journal.list()).toEqual(['b', 'a', 'c'])
      })

      it('forgets a session that is removed; what was never there may be removed too', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')
        await session.append([received(1)])
        await session.close()

        await journal.remove('night-1')
        await journal.remove('night-1')

        expect(await journal.list()).toEqual([])
        expect(await recordsOf(journal, 'night-1')).toEqual([])
      })

      it('does not remove a session that somebody has open', async () => {
        const { journal } = await begin()
        const session = await open(journal, 'night-1')
        await session.append([received(1)])

        await expect(journal.remove('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
        await session.close()

        expect(await recordsOf(journal, 'night-1')).toEqual([received(1)])
      })

      it.each(['__proto__', 'constructor', '../up', 'a/b', 'Straße 7 ⚾', '.', 'CON', 'a'.repeat(200)])(
        'takes %j as a key like any other',
        async (key) => {
          const { journal } = await begin()
          const session = await open(journal, key)
          await session.append([received(1)])
          await session.close()

          expect(await journal.list()).toEqual([key])
          expect(await recordsOf(journal, key)).toEqual([received(1)])
        },
      )

      it('keeps apart keys that differ in case only', async () => {
        const { journal } = await begin()
        for (const [index, key] of ['Night', 'night'].entries()) {
          const session = await open(journal, key)
          await session.append([received(index)])
          await session.close()
        }

        expect(await recordsOf(journal, 'Night')).toEqual([received(0)])
        expect(await recordsOf(journal, 'night')).toEqual([received(1)])
      })
    })
  })
}

function received(index: number): JournalRecord {
  const receipt = { acceptedEnd: 5 * (index + 1), etag: `"e${String(index)}"`, isVerified: index % 2 === 0 }
  return { type: 'part.received', at: 1000 + index, fileIndex: 0, partNumber: index + 1, receipt }
}

/** Every kind of record once, with names and values that are easily lost on the way. */
function oneOfEach(key: string): JournalRecord[] {
  const file = { fileIndex: 0, name: '__proto__', sizeBytes: 2 ** 40 + 1, partCount: 2, partSizeBytes: 5 * 2 ** 20 }
  const files = [{ ...file, modifiedAtMs: 1_789_000_000_123, extra: { frameRate: 239.76 } }]
  const addressed = [{ fileIndex: 0, serverFileId: 'id-1', addresses: ['https://storage.example/a?x=1&y=%2F'] }]
  const params = { playerId: 'p "17"\n', nested: { list: [1, null, true, ''] } }
  const error = { code: 'ERR_UPLOAD_NETWORK', message: 'Zeile 1\nZeile 2 \u2028 ⚾' } as const
  return [
    { type: 'session.begun', at: 1, version: 1, key, flow: 'video', params, files, locations: ['/a b/__proto__'] },
    { type: 'session.creating', at: 2 },
    { type: 'session.created', at: 3, sessionId: 7, files: addressed, hasPossibleOrphan: true },
    { type: 'files.registering', at: 4, fileIndexes: [0] },
    { type: 'files.registered', at: 5, files: addressed },
    { type: 'part.doubtful', at: 6, fileIndex: 0, partNumber: 1 },
    received(0),
    { type: 'parts.voided', at: 8, fileIndex: 0, partNumbers: [1, 2] },
    { type: 'file.confirming', at: 9, fileIndex: 0 },
    { type: 'file.confirmed', at: 10, fileIndex: 0 },
    { type: 'file.failed', at: 11, fileIndex: 0, error },
    { type: 'session.cancelling', at: 12 },
    { type: 'session.cancelled', at: 13, isServiceTold: false },
    { type: 'session.settled', at: 14, status: 'failed' },
  ]
}
