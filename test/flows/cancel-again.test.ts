// Giving a session up once more, after a life that may have told the service and never heard its answer.

import { expect, it } from 'vitest'

import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal.ts'
import type { Transport } from '../../src/core/ports.ts'
import { createUplink } from '../../src/uplink.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const PLAN = { fileIndex: 0, name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
const params = { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 }
const CREATED: readonly JournalRecord[] = [
  {
    at: 1,
    type: 'session.begun',
    version: JOURNAL_VERSION,
    key: 'k',
    flow: 'video',
    params,
    files: [PLAN],
    locations: [],
  },
  { at: 2, type: 'session.created', sessionId: 's1', files: [{ fileIndex: 0, addresses: ['https://s.test/1'] }] },
]

/** Cancels a session of this history at a service that knows no such session. */
async function cancelGone(records: readonly JournalRecord[]): Promise<boolean | undefined> {
  const journal = memoryJournal()
  const session = await journal.open('k')
  await session.append(records)
  await session.close()
  const transport: Transport = {
    send: () => Promise.resolve({ status: 404, headers: {}, body: new Uint8Array(), isBodyCut: false }),
    endingOf: () => 'neverWhole',
    close: () => Promise.resolve(),
  }
  const uplink = createUplink(
    { baseUrl: 'https://service.test', credentials: { apiKey: 'key' } },
    { transport, journal, clock: createSimulatedClock(), random: () => 0.5 },
  )
  return (await uplink.cancelSession('k')).isServiceTold
}

it.each([
  ['was told by nobody before', CREATED, false],
  ['may have been told by a life that died', [...CREATED, { at: 3, type: 'session.cancelling' }], true],
  [
    'may have been told although no answer came',
    [
      ...CREATED,
      { at: 3, type: 'session.cancelling' },
      { at: 4, type: 'session.cancelled', isServiceTold: false },
      { at: 5, type: 'session.settled', status: 'cancelled' },
    ],
    true,
  ],
] as const)('takes a session that is gone for cancelled only where it %s', async (_, records, isTold) => {
  expect(await cancelGone(records)).toBe(isTold)
})
