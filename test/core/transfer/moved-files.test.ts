// Files that went to a new session: never two attempts of a part at once, whatever a transport needs to end one.

import { expect, it } from 'vitest'
import { createLedger, fileAt } from '../../../src/core/journal/ledger.ts'
import type { Attempts } from '../../../src/core/transfer/attempts.ts'
import { createMovedFiles } from '../../../src/core/transfer/moved-files.ts'
import { createSchedule } from '../../../src/core/transfer/schedule.ts'
import type { TransferJob } from '../../../src/core/transfer/transfer-job.ts'

it('go on in the new session only when no attempt of the old one runs any more', async () => {
  const ledger = createLedger([{ fileIndex: 0, name: 'a.mp4', sizeBytes: 20, partSizeBytes: 10, partCount: 2 }])
  const file = fileAt(ledger, 0)
  file.state = 'ready'
  const schedule = createSchedule({ order: 'any' })
  schedule.add([{ fileIndex: 0, partNumber: 1, start: 0, end: 10 }])
  schedule.take(0)
  const aborted: number[] = []
  let end = (): void => undefined
  const attempts = {
    abortFile: (fileIndex) => void aborted.push(fileIndex),
    idle: () => new Promise<void>((resolve) => (end = resolve)),
  } as Partial<Attempts> as Attempts
  const takeUpMoved = createMovedFiles({
    job: { ledger } as TransferJob,
    schedule,
    attempts,
    deadlineOf: () => undefined,
  })

  file.generation += 1
  const takingUp = takeUpMoved()
  await new Promise((resolve) => setImmediate(resolve))
  expect([aborted, schedule.readyCount(0)]).toEqual([[0], 0])
  end()
  await takingUp

  expect(schedule.readyCount(0)).toBe(2)
})
