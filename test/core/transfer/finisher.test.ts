// Files on their way to be confirmed: so many at once, in their order, and in the very step where nothing is to be waited for.

import { describe, expect, it } from 'vitest'
import { createFinisher } from '../../../src/core/transfer/finisher.ts'
import { createLedger, type LedgerFile } from '../../../src/core/journal/ledger.ts'

function threeFiles(): readonly LedgerFile[] {
  const plan = { sizeBytes: 1, partSizeBytes: 1, partCount: 1 }
  return createLedger([0, 1, 2].map((fileIndex) => ({ fileIndex, name: `${fileIndex}.mp4`, ...plan }))).files
}

describe('createFinisher', () => {
  it('is done with a file in the same step where there is nothing to wait for', () => {
    const finished: LedgerFile[] = []
    const finisher = createFinisher(
      1,
      (file) => {
        finished.push(file)
        return undefined
      },
      () => undefined,
    )
    const files = threeFiles()

    for (const file of files) finisher.add(file)

    expect(finished).toEqual(files)
  })

  it('takes a file again that was done in one step and has become complete once more', () => {
    let count = 0
    const finisher = createFinisher(
      1,
      () => void (count += 1),
      () => undefined,
    )
    const [file] = threeFiles()

    if (file !== undefined) finisher.add(file)
    if (file !== undefined) finisher.add(file)

    expect(count).toBe(2)
  })

  it('waits for no more than so many at once, and takes none twice', async () => {
    const ends: ((again: readonly number[]) => void)[] = []
    const begun: number[] = []
    const resent: (readonly number[])[] = []
    const finisher = createFinisher(
      2,
      (file) => {
        begun.push(file.plan.fileIndex)
        return new Promise<readonly number[]>((resolve) => ends.push(resolve))
      },
      (_file, again) => resent.push(again),
    )

    for (const file of threeFiles()) {
      finisher.add(file)
      finisher.add(file)
    }
    expect(begun).toEqual([0, 1])
    ends[0]?.([3])
    ends[1]?.([])
    await new Promise((resolve) => setImmediate(resolve))

    expect(begun).toEqual([0, 1, 2])
    expect(resent).toEqual([[3]])
  })
})
