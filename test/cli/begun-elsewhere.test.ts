// Which sessions a resume of everything leaves to another service, as their journals say.

import { expect, it } from 'vitest'

import { begunElsewhere } from '../../src/cli/begun-elsewhere.ts'
import type { SessionSummary } from '../../src/flows/sessions.ts'
import type { JournalRecord } from '../../src/node.ts'

const session = (key: string) => ({ key, sessionIds: ['s1'] }) as unknown as SessionSummary
const begunAt = (host: string) =>
  [
    { at: 1, type: 'session.begun', version: 1, key: 'k', flow: 'video', params: {}, locations: [], host, files: [] },
  ] as JournalRecord[]

it('compares host and port, whatever the base URL leaves out', async () => {
  const journal = { read: () => Promise.resolve(begunAt('api.example:443')) }
  const elsewhere = async (asked: string) => [...(await begunElsewhere([session('k')], journal, asked)).keys()]

  expect(await elsewhere('HTTPS://API.example/v1/')).toEqual([])
  expect(await elsewhere('https://api.example:8443')).toEqual(['k'])
})

it('leaves a session that was removed meanwhile to the resume, in which it fails alone', async () => {
  const journal = { read: (key: string) => Promise.resolve(key === 'gone' ? [] : begunAt('api.example:443')) }
  const sessions = [session('gone'), session('theirs')]

  expect([...(await begunElsewhere(sessions, journal, 'https://other.example'))]).toEqual([
    ['theirs', 'api.example:443'],
  ])
})
