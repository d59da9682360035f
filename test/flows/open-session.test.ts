// How a session is opened: of a large one, the answer is read and checked in two turns of the thread. What a failure leaves
// behind is on record before anybody hears of the failure.

import { expect, it } from 'vitest'

import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { UploadError } from '../../src/core/errors.ts'
import type { JournalRecord } from '../../src/core/journal/journal.ts'
import { ONE_PUT_LIMITS } from '../../src/core/plan.ts'
import type { Journal, PlannedFile, Protocol } from '../../src/core/ports.ts'
import { openSession } from '../../src/flows/open-session.ts'
import { createSessionRecord } from '../../src/flows/session-record.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const TRAITS: Protocol['traits'] = {
  units: ONE_PUT_LIMITS,
  order: 'any',
  addressing: 'session',
  batchSize: 0,
}

it.each([
  [1_000, 'at once'],
  [1_001, 'in a later turn'],
])('an answer for %i files is checked %s', async (count, when) => {
  const clock = createSimulatedClock()
  const plans = Array.from({ length: count }, (_, fileIndex): PlannedFile => {
    return { fileIndex, name: `${String(fileIndex)}.mp4`, sizeBytes: 3, partSizeBytes: 3, partCount: 1 }
  })
  const files = plans.map(({ fileIndex }) => ({ fileIndex, addresses: [`https://store.example/${String(fileIndex)}`] }))
  let checked = 0
  const protocol: Protocol = {
    traits: TRAITS,
    create: () => Promise.resolve({ sessionId: 's', files }),
    request: () => {
      checked += 1
      return { method: 'PUT', headers: {} }
    },
    judge: (_reply, unit) => ({ kind: 'received', acceptedEnd: unit.end }),
  }
  const record = createSessionRecord(memoryJournal(), clock, 'k')

  const opened = openSession({ record, protocol, clock, report: () => undefined }, plans, new AbortController().signal)
  // All that is left to do in this turn of the thread is done.
  await new Promise(setImmediate)

  expect(checked).toBe(when === 'at once' ? count : 0)
  await clock.advance(0)
  expect(await opened).toMatchObject({ sessionId: 's' })
  expect(checked).toBe(count)
})

it.each([
  ['a session', { sessionId: 's', isDoubtful: true }, ['session.left']],
  ['no doubt', { isDoubtful: false }, ['session.refused']],
])(
  '%s is on record before the failure that left it is heard of, however slow the disk is',
  async (_, details, types) => {
    const onRecord: JournalRecord['type'][] = []
    let written = (): void => undefined
    const kept = memoryJournal()
    const journal: Journal = {
      ...kept,
      open: async (key) => ({
        ...(await kept.open(key)),
        append: async (records) => {
          await new Promise<void>((resolve) => (written = resolve))
          onRecord.push(...records.map(({ type }) => type))
        },
      }),
    }
    const clock = createSimulatedClock()
    const protocol: Protocol = {
      traits: TRAITS,
      create: () => Promise.reject(new UploadError('ERR_UPLOAD_SERVICE_REPLY', 'Of no use.', { details })),
      request: () => ({ method: 'PUT', headers: {} }),
      judge: (_reply, unit) => ({ kind: 'received', acceptedEnd: unit.end }),
    }
    const record = createSessionRecord(journal, clock, 'k')
    let heard: unknown

    const options = { record, protocol, clock, report: () => undefined }
    const opened = openSession(options, [], new AbortController().signal).catch((error: unknown) => (heard = error))
    // All that can be done before the disk answers is done.
    await new Promise(setImmediate)
    expect(heard).toBeUndefined()
    written()
    await opened

    expect(heard).toMatchObject({ message: 'Of no use.' })
    expect(onRecord).toEqual(types)
  },
)

/** How opening one ends: the records, and whether it was asked for. `looking`: whether anybody wants it still. */
async function endOf(looking: AbortSignal, create: Protocol['create']) {
  const [journal, clock] = [memoryJournal(), createSimulatedClock()]
  let isAsked = false
  const protocol: Protocol = {
    traits: TRAITS,
    create(...asked) {
      isAsked = true
      return create(...asked)
    },
    request: () => ({ method: 'PUT', headers: {} }),
    judge: (_reply, unit) => ({ kind: 'received', acceptedEnd: unit.end }),
  }
  const options = { record: createSessionRecord(journal, clock, 'k'), protocol, clock, report: () => undefined }
  await expect(openSession(options, [], new AbortController().signal, looking)).rejects.toThrow()
  return { isAsked, types: (await journal.read('k')).map(({ type }) => type) }
}

it('none is asked for that was given up before, and none can be there', async () => {
  const create = () => Promise.reject(new Error('It is not to be asked.'))

  expect(await endOf(AbortSignal.abort(), create)).toEqual({ isAsked: false, types: ['session.refused'] })
})

it('one may be there of a create that fails without saying so, though nobody had heard of its last try that was told', async () => {
  const wait = { host: 's:443', operation: 'create', reason: 'no connection', sinceMs: 0, untilMs: 1, giveUpAtMs: 2 }
  const create: Protocol['create'] = (_plans, _signal, onWaiting) => {
    onWaiting?.({ ...wait, isDoubtful: false })
    return Promise.reject(new Error('Another try, which it did not tell of.'))
  }

  expect(await endOf(new AbortController().signal, create)).toEqual({ isAsked: true, types: [] })
})
