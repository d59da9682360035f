// A long list of sessions: all of them, in their order, and never more of their journals read at once than a system has handles.

import { expect, it } from 'vitest'

import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { JOURNAL_VERSION } from '../../src/core/journal/journal.ts'
import { listSessions } from '../../src/flows/session-list.ts'

it('lists a thousand sessions without reading them all at once', async () => {
  const journal = memoryJournal()
  const keys = Array.from({ length: 1_000 }, (_, index) => `video-${String(index)}`)
  const begun = { version: JOURNAL_VERSION, flow: 'video', params: {}, files: [], locations: [] } as const
  for (const key of keys) {
    const session = await journal.open(key)
    await session.append([{ type: 'session.begun', at: 1, key, ...begun }])
    await session.close()
  }
  let [reading, most] = [0, 0]
  const read: typeof journal.read = async (key) => {
    reading += 1
    most = Math.max(most, reading)
    const records = await journal.read(key)
    reading -= 1
    return records
  }

  const listed = await listSessions({ journal: { ...journal, read } })

  expect(listed.map(({ key, status }) => [key, status])).toEqual(keys.map((key) => [key, 'open']))
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(32)
})
