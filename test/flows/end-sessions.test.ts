// Telling the service of sessions that nobody needs: what counts as told, and what is left for a later life.

import { describe, expect, it } from 'vitest'

import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { HttpStatusError } from '../../src/core/errors.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import type { Protocol } from '../../src/core/ports.ts'
import { endAllSessions, endLeftSessions } from '../../src/flows/end-sessions.ts'
import { createSessionRecord } from '../../src/flows/session-record.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const CREATED: readonly JournalRecord[] = [
  {
    ...{ at: 1, type: 'session.begun', version: JOURNAL_VERSION, key: 'k', flow: 'custom', params: {} },
    files: [{ fileIndex: 0, name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }],
    locations: [],
  },
  { at: 2, type: 'session.created', sessionId: 's1', files: [{ fileIndex: 0, addresses: ['https://s.test/1'] }] },
]
const left = (sessionId: string): JournalRecord => ({ at: 3, type: 'session.left', sessionId })
const status = (code: number) =>
  new HttpStatusError('ERR_UPLOAD_SERVICE_REPLY', 'no', { status: code, isRetryable: false })

async function optionsOf(records: readonly JournalRecord[], cancel?: Protocol['cancel']) {
  const [journal, clock] = [memoryJournal(), createSimulatedClock()]
  const session = await journal.open('k')
  await session.append(records)
  await session.close()
  const record = createSessionRecord(journal, clock, 'k', await journal.open('k'))
  return { record, clock, protocol: cancel === undefined ? {} : { cancel } }
}

describe('all sessions of an upload', () => {
  it('are told where each was, and none where the protocol has no call for it', async () => {
    const told: unknown[] = []
    const cancel = (sessionId: unknown): Promise<void> => (told.push(sessionId), Promise.resolve())

    expect(await endAllSessions(await optionsOf([...CREATED, left('s0')], cancel))).toEqual({
      isServiceTold: true,
    })
    expect(told).toEqual(['s1', 's0'])
    expect(await endAllSessions(await optionsOf(CREATED.slice(0, 1), cancel))).toEqual({ isServiceTold: false })
    expect(await endAllSessions(await optionsOf(CREATED))).toEqual({ isServiceTold: false })
  })

  it('are not told where one of them was not, and what a host throws becomes an error', async () => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- A host may.
    const cancel = (): Promise<void> => Promise.reject('the door is shut')

    const { isServiceTold, failure } = await endAllSessions(await optionsOf(CREATED, cancel))

    expect([isServiceTold, failure]).toEqual([false, expect.any(Error)])
    expect(failure?.message).toContain('the door is shut')
  })
})

describe('sessions that were left', () => {
  it('are on record as ended where the service was told, or knows them no more; the others are given back', async () => {
    // A protocol of the host's may come with a copy of the package.
    const foreign = Object.assign(new Error('no'), { code: 'ERR_UPLOAD_SERVICE_REFUSED', status: 410, details: {} })
    const answers: Readonly<Record<string, Error | undefined>> = { gone: status(404), foreign, busy: status(503) }
    const cancel = (sessionId: string | number): Promise<void> => {
      const answer = answers[sessionId]
      return answer === undefined ? Promise.resolve() : Promise.reject(answer)
    }
    const options = await optionsOf([...CREATED, left('told'), left('gone'), left('foreign'), left('busy')], cancel)
    const written: unknown[] = []
    const write: typeof options.record.write = async (body) => {
      await options.record.write(body)
      await new Promise((resolve) => setImmediate(resolve))
      written.push(body)
    }

    expect(await endLeftSessions({ ...options, record: { ...options.record, write } })).toEqual(['busy'])

    expect(written).toEqual([
      { type: 'session.ended', sessionId: 'told' },
      { type: 'session.ended', sessionId: 'gone' },
      { type: 'session.ended', sessionId: 'foreign' },
    ])
    expect(options.record.folded()?.leftSessionIds).toEqual(['busy'])
  })
})
