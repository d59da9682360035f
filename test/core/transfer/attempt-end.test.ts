// The end of an attempt whose file went to another session while its receipt was written.

import { expect, it } from 'vitest'
import { readAddress } from '../../../src/core/address/address.ts'
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
  let written = (): void => undefined
  const job = {
    ledger,
    record: () => new Promise<void>((resolve) => (written = resolve)),
    report: (event) => void events.push(event),
  } as Partial<TransferJob> as TransferJob
  const never = (): never => {
    throw new Error('Nothing fails here.')
  }
  const { ended } = createAttemptEnd({
    ...{ job, schedule, clock, random, retries: 6, signal: new AbortController().signal },
    host: createHostWatch({ clock, random, giveUpAfterMs: 1_000, inFlight: () => 0, report: never, onGiveUp: never }),
    lifeOf: () => undefined,
    failFile: never,
    onComplete: never,
    onMoved: never,
  })
  const address = readAddress('https://store.test/a/1')
  const receipt = { acceptedEnd: 10, isVerified: false }
  const end = () =>
    ended(
      { turn, file, address, generation: 0, addressedAtMs: 0, beganAtMs: 0, isLeftOver: false },
      { kind: 'received', receipt },
    )
  return { end, file, written: () => written(), events }
}
