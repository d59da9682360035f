// The end of an attempt: what is on record before its part may go again, and how it goes then.

import { expect, it } from 'vitest'
import { readAddress } from '../../../src/core/address/address.ts'
import type { AttemptResult } from '../../../src/core/attempt/attempt.ts'
import { TransportError } from '../../../src/core/errors.ts'
import { createLedger, fileAt } from '../../../src/core/journal/ledger.ts'
import { createAttemptEnd } from '../../../src/core/transfer/attempt-end.ts'
import { createHostWatch } from '../../../src/core/transfer/host-watch.ts'
import { createSchedule } from '../../../src/core/transfer/schedule.ts'
import type { TransferEvent, TransferJob } from '../../../src/core/transfer/transfer-job.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

it('is believed only while the file is where the part was sent to', async () => {
  for (const [isMoved, told] of [
    [false, ['received']],
    [true, []],
  ] as const) {
    const { end, file, written, events } = setUp()

    const ending = end()
    if (isMoved) file.generation += 1
    written()
    await ending

    expect(events.map(({ type }) => type)).toEqual(told)
  }
})

const lost = (ending: 'doubtful' | 'neverWhole') =>
  new TransportError('ERR_UPLOAD_NETWORK', 'Lost', { phase: 'answer', ending })

it('that is doubtful lets its part go again only when that is on record', async () => {
  for (const result of [
    { kind: 'missing', ending: 'doubtful', error: lost('doubtful') },
    { kind: 'crawled', ending: 'doubtful' },
  ] as const) {
    const { end, written, recorded, waitsOrIsReady } = setUp()

    const ending = end(result)
    expect([recorded, waitsOrIsReady()]).toEqual([['part.doubtful'], false])
    written()
    await ending

    expect(waitsOrIsReady()).toBe(true)
  }
})

it.each([
  ['that was aborted goes no more', { kind: 'aborted', ending: 'neverWhole' }, undefined, ['attemptEnded']],
  [
    'that crawled goes at once, on a fresh connection, and uses nothing up',
    { kind: 'crawled', ending: 'neverWhole' },
    { attempt: 2, usedTries: 0, isFreshConnection: true },
    ['attemptEnded'],
  ],
  [
    'without an answer waits for its turn, on a fresh connection, and says so',
    { kind: 'missing', ending: 'neverWhole', error: lost('neverWhole') },
    { attempt: 2, usedTries: 1, isFreshConnection: true },
    ['attemptEnded', 'retry'],
  ],
  [
    'of a storage that lost what it had taken of the part is none that is recorded, and is counted',
    { kind: 'received', receipt: { acceptedEnd: -1, isVerified: false } },
    { attempt: 2, usedTries: 1, isFreshConnection: false },
    ['attemptEnded', 'retry'],
  ],
] as const)('one %s', async (_, result, turn, told) => {
  const { end, events, recorded, again } = setUp()

  await end(result)

  expect(again()).toEqual(turn === undefined ? undefined : expect.objectContaining(turn))
  expect(events.map(({ type }) => type)).toEqual(told)
  for (const event of events)
    if (event.type === 'retry') expect(event.error.code).toMatch(/^ERR_UPLOAD_(?:NETWORK|SERVICE_REPLY)$/)
  expect(recorded).toEqual([])
})

function setUp() {
  const clock = createSimulatedClock()
  const random = (): number => 0.5
  const ledger = createLedger([{ fileIndex: 0, name: 'a.mp4', sizeBytes: 20, partSizeBytes: 10, partCount: 2 }])
  const file = fileAt(ledger, 0)
  const unit = { fileIndex: 0, partNumber: 1, start: 0, end: 10 }
  const schedule = createSchedule({ order: 'any' })
  schedule.add([unit])
  const turn = schedule.take(0)!
  const events: TransferEvent[] = []
  const recorded: string[] = []
  let written = (): void => undefined
  const job = {
    ledger,
    record({ type }) {
      recorded.push(type)
      return new Promise<void>((resolve) => (written = resolve))
    },
    report: (event) => void events.push(event),
  } as Partial<TransferJob> as TransferJob
  const never = (): never => {
    throw new Error('Nothing fails here.')
  }
  const { ended } = createAttemptEnd({
    ...{ job, schedule, clock, random, retries: 6, signal: new AbortController().signal },
    host: createHostWatch({
      clock,
      random,
      giveUpAfterMs: 1_000,
      inFlight: () => 0,
      report: () => undefined,
      onGiveUp: never,
    }),
    lifeOf: () => undefined,
    failFile: never,
    onComplete: never,
    onMoved: never,
  })
  const address = readAddress('https://store.test/a/1')
  const receipt = { acceptedEnd: 10, isVerified: false }
  const end = (result: AttemptResult = { kind: 'received', receipt }) =>
    ended({ turn, file, address, generation: 0, addressedAtMs: 0, beganAtMs: 0, isLeftOver: false }, result)
  const nowMs = clock.monotonicNow()
  return {
    ...{ end, file, written: () => written(), events, recorded },
    waitsOrIsReady: () => schedule.readyCount(Infinity) > 0,
    again: () => schedule.take(schedule.nextDueMs(nowMs) ?? nowMs),
  }
}
