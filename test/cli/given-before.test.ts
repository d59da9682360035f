// Which unfinished session a new upload of the same files is warned of.

import { expect, it } from 'vitest'

import { givenBefore } from '../../src/cli/given-before.ts'
import { createSessionList } from '../../src/flows/session-list.ts'
import { memoryJournal, type JournalRecord } from '../../src/node.ts'

const HOST = 'service.example:443'
const begun = (key: string, names: readonly string[], host = HOST, modifiedAtMs = 5): JournalRecord => {
  const units = { sizeBytes: 1, partCount: 1, partSizeBytes: 1 }
  const files = names.map((name, fileIndex) => ({ fileIndex, name, modifiedAtMs, ...units }))
  const locations = names.map((name) => `/night/${name}`)
  return { at: 1, type: 'session.begun', version: 1, key, flow: 'capture', params: {}, host, files, locations }
}
const created = (host = HOST): JournalRecord => ({ at: 2, type: 'session.created', sessionId: 7, host })
const settled = (status: 'partial' | 'confirmed'): JournalRecord => ({ at: 4, type: 'session.settled', status })
const confirmed = (fileIndex: number): JournalRecord => ({ at: 3, type: 'file.confirmed', fileIndex })

const both = ['one.trc', 'two.trc']
it.each<[string, readonly JournalRecord[], number | undefined]>([
  ['it was killed', [begun('it', both), created()], 2],
  ['it ended partial', [begun('it', both), created(), confirmed(0), settled('partial')], 1],
  ['it is confirmed', [begun('it', ['one.trc']), created(), confirmed(0), settled('confirmed')], undefined],
  ['it has only confirmed ones of them', [begun('it', ['one.trc', 'other.trc']), created(), confirmed(0)], undefined],
  ['it has other files', [begun('it', ['other.trc']), created()], undefined],
  ['they have changed since, so that no resume delivers them', [begun('it', both, HOST, 4), created()], undefined],
  ['no service has heard of it', [begun('it', both)], undefined],
  ['another service has it', [begun('it', both, 'trial:443'), created('trial:443')], undefined],
])('counts the files that a resume would deliver a second time where %s', async (_, records, count) => {
  const journal = memoryJournal()
  const session = await journal.open('it')
  await session.append(records)
  await session.close()

  const given = new Map(both.map((name) => [`/night/${name}`, { sizeBytes: 1, modifiedAtMs: 5 }]))
  const found = await givenBefore(given, { journal, summaries: createSessionList({ journal }) }, HOST)

  expect(found).toEqual(count === undefined ? undefined : { key: 'it', count })
})
