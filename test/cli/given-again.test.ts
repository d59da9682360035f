// Which sessions a resume of everything leaves out, because they never began and their files were given again.

import { expect, it } from 'vitest'

import { givenAgain } from '../../src/cli/given-again.ts'
import { filesWhereTheyWere } from '../../src/cli/lost-files.ts'
import { createSessionList } from '../../src/flows/session-list.ts'
import { memoryJournal, type JournalRecord } from '../../src/node.ts'

const files = [{ fileIndex: 0, name: 'take.action', sizeBytes: 1, partCount: 1, partSizeBytes: 1 }]
const begun = (key: string, at: number): JournalRecord => {
  const purpose = { flow: 'capture', params: {}, files, locations: ['/take.action'] } as const
  return { at, type: 'session.begun', version: 1, key, ...purpose }
}
const asked: JournalRecord = { at: 2, type: 'session.creating' }
const failed: JournalRecord = { at: 3, type: 'session.settled', status: 'failed' }
const resumed: JournalRecord = { at: 4, type: 'session.resumed' }
const created: JournalRecord = { at: 11, type: 'session.created', sessionId: 7 }

it.each<[string, readonly JournalRecord[], readonly string[]]>([
  ['nothing was asked', [], ['first']],
  // A resume was killed before it asked again.
  ['it was resumed before the service was asked', [failed, resumed], ['first']],
  ['a create was asked and nobody knows what became of it', [asked], []],
  ['a create had no answer, and a resume ended before it asked again', [asked, failed, resumed], []],
])('leaves out what was given again only where the service cannot have heard of it: %s', async (_, records, left) => {
  const journal = memoryJournal()
  const keep = async (key: string, kept: readonly JournalRecord[]) => {
    const session = await journal.open(key)
    await session.append(kept)
    await session.close()
  }
  await keep('first', [begun('first', 1), ...records])
  await keep('second', [begun('second', 10), { ...asked, at: 10 }, created])

  const again = await givenAgain(await createSessionList({ journal })(), journal)

  expect([...again.keys()]).toEqual(left)
})

it('goes on with the other sessions where another process has removed one since they were listed', async () => {
  const journal = memoryJournal()
  for (const [at, key] of ['first', 'gone', 'last'].entries()) {
    const session = await journal.open(key)
    await session.append([begun(key, at)])
    await session.close()
  }
  const sessions = await createSessionList({ journal })()
  await journal.remove('gone')

  expect([...(await givenAgain(sessions, journal))]).toEqual([['first', 'last']])
  expect([...(await filesWhereTheyWere(sessions, journal)).keys()]).toEqual(['first', 'last'])
})
