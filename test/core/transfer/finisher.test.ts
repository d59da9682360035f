// Files on their way to be confirmed: so many at once, in their order, and in the very step where nothing is to be waited for.

import { describe, expect, it } from 'vitest'
import { createFinisher } from '../../../src/core/transfer/finisher.ts'
import type { TransferJob } from '../../../src/core/transfer/transfer-job.ts'
import { createLedger, type LedgerFile } from '../../../src/core/journal/ledger.ts'

function filesToFinish(count = 3): readonly LedgerFile[] {
  const plan = { sizeBytes: 1, partSizeBytes: 1, partCount: 1 }
  const indexes = Array.from({ length: count }, (_, fileIndex) => fileIndex)
  return createLedger(indexes.map((fileIndex) => ({ fileIndex, name: `${fileIndex}.mp4`, ...plan }))).files
}

/** A finisher of so many files at once; its tasks and reports are noted. */
function finisherOf(
  finish: TransferJob['finish'],
  atOnce: Pick<TransferJob, 'finishesAtOnce'> = { finishesAtOnce: 1 },
  signal = new AbortController().signal,
) {
  const added: string[] = []
  const tasks: Promise<void>[] = []
  const add = createFinisher({
    job: {
      finish,
      ...atOnce,
      report: () => undefined,
    },
    schedule: { add: (units) => void added.push(...units.map(({ partNumber }) => String(partNumber))) },
    signal,
    async track(task) {
      const running = task()
      tasks.push(running)
      return running
    },
    failFile: () => Promise.reject(new Error('No file fails here.')),
    deadlineOf: () => undefined,
  })
  return { finish: add, added, tasks }
}

describe('createFinisher', () => {
  it('is done with a file in the same step where there is nothing to wait for', () => {
    const finished: LedgerFile[] = []
    const { finish } = finisherOf((file) => {
      finished.push(file)
      return undefined
    })
    const files = filesToFinish()

    for (const file of files) finish(file)

    expect(finished).toEqual(files)
  })

  it('takes a file again that was done in one step and has become complete once more', () => {
    let count = 0
    const { finish } = finisherOf(() => void (count += 1))
    const [file] = filesToFinish()

    finish(file!)
    finish(file!)

    expect(count).toBe(2)
  })

  it('waits for four at once where the job does not say', () => {
    let count = 0
    const { finish } = finisherOf(() => (void (count += 1), new Promise(() => undefined)), {})

    for (const file of filesToFinish(9)) finish(file)

    expect(count).toBe(4)
  })

  it('does not count those that hang, up to 64 of them, and counts those again that go on', () => {
    const tells: ((isHung: boolean) => void)[] = []
    const { finish } = finisherOf((_, __, onHang) => (tells.push(onHang), new Promise(() => undefined)))
    for (const file of filesToFinish(100)) finish(file)
    expect(tells).toHaveLength(1)

    tells[0]?.(true)
    expect(tells).toHaveLength(2)
    tells[1]?.(true)
    tells[0]?.(false)
    tells[1]?.(false)
    expect(tells).toHaveLength(3)
    for (let at = 0; at < tells.length; at += 1) tells[at]?.(true)

    expect(tells).toHaveLength(65)
  })

  it('begins with none once the transfer was stopped', () => {
    const { finish } = finisherOf(() => expect.unreachable('It is over.'), {}, AbortSignal.abort())

    for (const file of filesToFinish()) finish(file)
  })

  it('waits for no more than so many at once, takes none twice, and sends again what was voided', async () => {
    const ends: ((again: readonly number[]) => void)[] = []
    const begun: number[] = []
    const { finish, added, tasks } = finisherOf(
      (file) => {
        begun.push(file.plan.fileIndex)
        return new Promise<readonly number[]>((resolve) => ends.push(resolve))
      },
      { finishesAtOnce: 2 },
    )

    for (const file of filesToFinish()) {
      finish(file)
      finish(file)
    }
    expect(begun).toEqual([0, 1])
    ends[0]?.([1])
    ends[1]?.([])
    await Promise.all(tasks.slice(0, 2))

    expect(begun).toEqual([0, 1, 2])
    expect(added).toEqual(['1'])
  })
})
