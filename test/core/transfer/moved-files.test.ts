// Files that went to a new session: never two attempts of a part at once, whatever a transport needs to end one.

import { describe, expect, it } from 'vitest'
import { createLedger, fileAt } from '../../../src/core/journal/ledger.ts'
import type { Attempts } from '../../../src/core/transfer/attempts.ts'
import { createMovedFiles } from '../../../src/core/transfer/moved-files.ts'
import { createSchedule } from '../../../src/core/transfer/schedule.ts'
import type { TransferJob } from '../../../src/core/transfer/transfer-job.ts'

/** Two files of two parts that are ready; what is done with them is noted, and attempts end when they are told to. */
function twoFiles() {
  const plan = { sizeBytes: 20, partSizeBytes: 10, partCount: 2 }
  const ledger = createLedger([0, 1].map((fileIndex) => ({ fileIndex, name: `${fileIndex}.mp4`, ...plan })))
  for (const file of ledger.files) file.state = 'ready'
  const schedule = createSchedule('any')
  for (const fileIndex of [0, 1]) schedule.add([{ fileIndex, partNumber: 1, start: 0, end: 10 }])
  const told: string[] = []
  const ends: (() => void)[] = []
  const attempts = {
    abortFile: (fileIndex) => void told.push(`abort ${fileIndex}, ready ${schedule.readyCount(0)}`),
    idle: () => new Promise<void>((resolve) => ends.push(resolve)),
  } as Partial<Attempts> as Attempts
  let hasHeard = (): void => undefined
  const moved = (): Promise<void> => {
    told.push('moved')
    return new Promise((resolve) => (hasHeard = resolve))
  }
  const job = { ledger, moved } as Partial<TransferJob> as TransferJob
  const takeUpMoved = createMovedFiles(job, schedule, attempts, () => undefined)
  const [one, other] = [fileAt(ledger, 0), fileAt(ledger, 1)]
  return { one, other, schedule, told, ends, takeUpMoved, hear: () => hasHeard() }
}

describe('files that went to a new session', () => {
  it('go on there only when no attempt of the old one runs any more, and then the job hears of it', async () => {
    const { one, schedule, told, ends, takeUpMoved, hear } = twoFiles()
    one.generation += 1

    const takingUp = takeUpMoved()
    await turn()
    // Nothing of it may be begun by what the abort sets free.
    expect([told, schedule.readyCount(0)]).toEqual([['abort 0, ready 1'], 1])
    ends[0]?.()
    expect(await isSettled(takingUp)).toBe(false)
    expect([told.at(-1), schedule.readyCount(0)]).toEqual(['moved', 3])
    hear()
    await takingUp
  })

  it('are taken up once, and nothing is done where none moved', async () => {
    const { one, told, ends, takeUpMoved, hear } = twoFiles()
    await takeUpMoved()
    expect(told).toEqual([])
    one.generation += 1
    const takingUp = takeUpMoved()
    ends[0]?.()
    await turn()
    hear()
    await takingUp

    await takeUpMoved()
    expect(told).toEqual(['abort 0, ready 1', 'moved'])
  })

  it('go on one by one, as their own attempts end, and once only', async () => {
    const { one, other, schedule, ends, takeUpMoved } = twoFiles()
    one.generation += 1
    other.generation += 1
    void takeUpMoved()
    ends[1]?.()
    await turn()
    expect(schedule.readyCount(0)).toBe(2)
    expect(schedule.take(0)?.unit).toMatchObject({ fileIndex: 1, partNumber: 1 })

    // Moved once more while the attempts of the first one still end.
    other.generation += 1
    void takeUpMoved()
    ends[2]?.()
    await turn()
    const taken = [schedule.take(0)?.unit.partNumber, schedule.take(0)?.unit.partNumber]
    ends[0]?.()
    await turn()

    expect(taken).toEqual([1, 2])
    expect([schedule.take(0)?.unit.fileIndex, schedule.take(0)?.unit.fileIndex, schedule.take(0)]).toEqual([
      0,
      0,
      undefined,
    ])
  })

  it('are left alone that failed while their attempts ended', async () => {
    const { one, schedule, ends, takeUpMoved } = twoFiles()
    one.generation += 1
    void takeUpMoved()
    one.state = 'failed'
    ends[0]?.()
    await turn()

    expect(schedule.readyCount(0)).toBe(1)
  })

  it('are all there when the job hears of it, also of a move that came while attempts of another ended', async () => {
    const { one, other, told, ends, takeUpMoved, hear } = twoFiles()
    one.generation += 1
    const first = takeUpMoved()
    other.generation += 1
    const second = takeUpMoved()
    ends[0]?.()
    await first
    expect(told).not.toContain('moved')

    ends[1]?.()
    expect(await isSettled(second)).toBe(false)
    expect(told.filter((word) => word === 'moved')).toHaveLength(1)
    hear()
    await second
  })
})

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isOver = false
  void promise.then(() => (isOver = true))
  await turn()
  return isOver
}
