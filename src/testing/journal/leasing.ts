// Of a journal: who may open what, and under which keys.

import { describe, expect, it } from 'vitest'
import type { JournalRig } from './rig.ts'
import { received } from './sample-records.ts'

/** The lease of an open session; then keys: their order, any text, and removal. */
export function describeLeasing({ begin, open, recordsOf }: JournalRig): void {
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

    it('is over once it is given back: closing again takes nothing from the next holder, and appending adds nothing', async () => {
      const { journal } = await begin()
      const first = await open(journal, 'night-1')
      await first.close()
      const next = await open(journal, 'night-1')

      await first.close()

      await expect(journal.open('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
      await expect(first.append([received(1)])).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
      await next.append([received(2)])
      expect(await journal.read('night-1')).toEqual([received(2)])
    })

    it('does not hold other keys, whose records are kept apart while all are open', async () => {
      const { journal } = await begin()
      const first = await open(journal, 'night-1')
      const second = await open(journal, 'night-2')

      await Promise.all([first.append([received(1)]), second.append([received(2)]), first.append([received(3)])])

      expect(second.key).toBe('night-2')
      expect(await journal.read('night-1')).toEqual([received(1), received(3)])
      expect(await journal.read('night-2')).toEqual([received(2)])
    })

    it('holds against another instance over the same place, which reads the records after it', async () => {
      const { journal, another } = await begin()
      if (another === undefined) return
      const other = another()
      const session = await open(journal, 'night-1')
      await session.append([received(1)])

      await expect(other.open('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
      await expect(other.remove('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
      // What was appended must be there already: nothing is closed by a process that is killed.
      expect(await other.read('night-1')).toEqual([received(1)])
      await session.append([received(2)])
      expect(await other.read('night-1')).toEqual([received(1), received(2)])
      await session.close()

      expect(await recordsOf(other, 'night-1')).toEqual([received(1), received(2)])
      expect(await other.list()).toEqual(['night-1'])
    })
  })

  describe('keys', () => {
    it('lists sessions in the order in which they began, and not those without a record', async () => {
      const { journal } = await begin()
      const opened = await open(journal, 'opened only')
      await opened.append([])
      for (const key of ['b', 'a', 'c', 'a']) {
        const session = await open(journal, key)
        await session.append([{ type: 'session.creating', at: 1 }])
        await session.close()
      }

      expect(await journal.list()).toEqual(['b', 'a', 'c'])
      await journal.remove('b')
      await (await open(journal, 'b')).append([received(1)])
      expect(await journal.list()).toEqual(['a', 'c', 'b'])
    })

    it('forgets a session that is removed, and no other; what was never there may be removed too', async () => {
      const { journal } = await begin()
      for (const key of ['night', 'night-1', 'night-10']) {
        const session = await open(journal, key)
        await session.append([received(1)])
        await session.close()
      }

      await journal.remove('night-1')
      await journal.remove('night-1')

      expect(await journal.list()).toEqual(['night', 'night-10'])
      expect(await recordsOf(journal, 'night-1')).toEqual([])
    })

    it('does not remove a session that somebody has open', async () => {
      const { journal } = await begin()
      const session = await open(journal, 'night-1')
      await session.append([received(1)])

      await expect(journal.remove('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
      await expect(journal.open('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
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

    it.each([
      ['in case only', 'Night', 'night'],
      ['by a space at the end', 'night', 'night '],
      ['in how an accent is encoded', 'caf\u00e9', 'cafe\u0301'],
    ])('keeps apart keys that differ %s', async (_how, ...keys) => {
      const { journal } = await begin()
      for (const [index, key] of keys.entries()) {
        const session = await open(journal, key)
        await session.append([received(index)])
        await session.close()
      }

      for (const [index, key] of keys.entries()) expect(await recordsOf(journal, key)).toEqual([received(index)])
    })
  })
}
