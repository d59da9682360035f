// How a file is confirmed that needs no call: by its record, in the same step where that is durable at once, and not before it is.

import { describe, expect, it } from 'vitest'

import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { JOURNAL_VERSION } from '../../src/core/journal/journal.ts'
import { fileAt } from '../../src/core/journal/ledger.ts'
import { ONE_PUT_LIMITS } from '../../src/core/plan.ts'
import type { Journal, Protocol } from '../../src/core/ports.ts'
import { createSessionJob } from '../../src/flows/session-job.ts'
import { createSessionRecord } from '../../src/flows/session-record.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const traits = { order: 'any', addressing: 'batches', batchSize: 10, cancelScope: 'none', confirms: false } as const
const protocol: Protocol = {
  traits: { units: ONE_PUT_LIMITS, ...traits },
  create: () => Promise.resolve({ sessionId: 's' }),
  request: () => ({ method: 'PUT', headers: {} }),
  judge: (_reply, unit) => ({ kind: 'received', acceptedEnd: unit.end }),
}

/** A session whose only file has its receipt. */
async function receivedFile(journal: Journal) {
  const clock = createSimulatedClock()
  const record = createSessionRecord(journal, clock, 'k')
  const plan = { fileIndex: 0, name: 'a.c3d', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
  const begun = {
    version: JOURNAL_VERSION,
    key: 'k',
    flow: 'capture',
    params: {},
    files: [plan],
    locations: [],
  } as const
  await record.write({ type: 'session.begun', ...begun })
  await record.write({ type: 'session.created', sessionId: 's' })
  await record.write({ type: 'files.registered', files: [{ fileIndex: 0, addresses: ['https://s.test/a'] }] })
  const receipt = { acceptedEnd: 3, isVerified: false }
  await record.write({ type: 'part.received', fileIndex: 0, partNumber: 1, generation: 0, receipt })
  const job = createSessionJob({
    ...{ record, protocol, clock, registeredBefore: new Set<number>() },
    source: () => {
      throw new Error('Nothing is read.')
    },
    report: () => undefined,
    bytesPerSecond: () => 0,
    onReplaced: () => undefined,
  })
  return { file: fileAt(record.ledger(), 0), job }
}

describe('a file that needs no call', () => {
  it('is confirmed when its finish returns, where the journal has the record by then', async () => {
    const { file, job } = await receivedFile(memoryJournal())

    expect(job.finish(file, new AbortController().signal)).toBeUndefined()
    expect(file.state).toBe('confirmed')
  })

  it('is not confirmed before its record is durable', async () => {
    let isSynced: () => void = () => undefined
    const append = (records: readonly { readonly type: string }[]): Promise<void> =>
      records[0]?.type === 'file.confirmed' ? new Promise((resolve) => (isSynced = resolve)) : Promise.resolve()
    const session = { key: 'k', records: [], append, close: () => Promise.resolve() }
    const { file, job } = await receivedFile({ ...memoryJournal(), open: () => Promise.resolve(session) })

    const finishing = job.finish(file, new AbortController().signal)
    await new Promise((resolve) => setImmediate(resolve))
    expect(file.state).toBe('received')
    isSynced()
    await finishing

    expect(file.state).toBe('confirmed')
  })
})
