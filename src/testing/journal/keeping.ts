// Of a journal: what it keeps.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JournalRecord } from '../../core/journal/journal.ts'
import type { JournalRig } from './rig.ts'
import { oneOfEach, received } from './sample-records.ts'

/** Reading beside an open session, and records: as they were when they were appended, in order, whatever comes after. */
export function describeKeeping({ begin, open, recordsOf, endAll }: JournalRig): void {
  describe('reading', () => {
    it('shows the records of a session that is open elsewhere, and of none for an unknown key', async () => {
      const { journal } = await begin()
      const session = await open(journal, 'night-1')
      await session.append([{ type: 'session.creating', at: 1 }])

      const found = await journal.read('night-1')
      await session.append([received(1)])

      expect(found).toEqual([{ type: 'session.creating', at: 1 }])
      expect(await journal.read('night-1')).toEqual([...found, received(1)])
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
      expect(await journal.read('night-1')).toEqual(oneOfEach('night-1'))
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

    it('takes a record of megabytes: a session is given the addresses of all its parts at once', async () => {
      const { journal } = await begin()
      const session = await open(journal, 'night-1')
      const addresses = Array.from(
        { length: 10_000 },
        (_, index) => `https://storage.example/${index}?${'x'.repeat(400)}`,
      )

      await session.append([{ type: 'session.created', at: 1, sessionId: 7, files: [{ fileIndex: 0, addresses }] }])
      await session.close()

      const [kept] = await recordsOf(journal, 'night-1')
      const found = kept?.type === 'session.created' ? kept.files?.[0]?.addresses : undefined
      // Where it goes wrong, and not megabytes beside each other.
      expect(addresses.findIndex((address, index) => address !== found?.[index])).toBe(-1)
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
}
