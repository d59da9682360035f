// A journal that has grown, and is made short.

import { execFileSync } from 'node:child_process'
import fs, { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { diskJournal } from '../../../../src/adapters/node/journal/disk-journal.ts'
import { foldJournal } from '../../../../src/core/journal/fold-journal.ts'
import type { JournalRecord } from '../../../../src/core/journal/journal.ts'
import {
  temporary,
  confirmed,
  received,
  begun,
  pathOf,
  write,
  read,
  fileHandles,
  openFiles,
  canMountHere,
  failure,
  removeAfterEach,
} from './disk-journal-rig.ts'

removeAfterEach()

describe('a journal that has grown', () => {
  /** Each part is sent over and over, as in a bad night. */
  const badNight = (rounds: number): JournalRecord[] => {
    const records: JournalRecord[] = [begun(20)]
    for (let round = 0; round < rounds; round++) {
      for (let part = 1; part <= 20; part++) records.push(received(part, String(round)))
      records.push({ type: 'parts.voided', at: 1, fileIndex: 0, partNumbers: [1, 2, 3] })
    }
    return records
  }

  it('is made short at opening, and folds to the same state', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const history = badNight(100)
    await write(journal, [history])
    await write(journal, [[confirmed(0)]], 'later')
    await writeFile(`${pathOf(folder)}.new`, 'left by a process that died')
    const before = (await stat(pathOf(folder))).size

    expect(foldJournal(await read(journal))).toEqual(foldJournal(history))
    const after = (await stat(pathOf(folder))).size
    expect(before).toBeGreaterThan(200_000)
    expect(after).toBeLessThan(5_000)
    expect((await stat(pathOf(folder))).mode & 0o777).toBe(0o600)
    expect(await journal.list()).toEqual(['k', 'later'])

    const found = await read(journal)
    expect(found).toHaveLength(2)
    expect(foldJournal(found)).toEqual(foldJournal(history))
    await write(journal, [[received(1, 'again')]])
    expect(await read(journal)).toEqual([...found, received(1, 'again')])
  })

  it('takes what is appended right after it was opened and made short, and holds one file open', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [badNight(100)])

    const session = await journal.open('k')
    const appended = session.append([received(1, 'again')])
    if (process.platform === 'linux') expect(openFiles(folder)).toEqual([pathOf(folder)])
    await appended
    await session.close()

    if (process.platform === 'linux') expect(openFiles(folder)).toEqual([])
    expect((await read(journal)).at(-1)).toEqual(received(1, 'again'))
  })

  it('calls kept all lines of the short one and no others, or a crash after that would be taken for damage', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [badNight(100)])
    const session = await journal.open('k')
    await session.append([received(1, 'again')])

    const [, number, kept] = (await readFile(pathOf(folder), 'utf8')).split('\n').at(-2)!.split(' ')
    await session.close()
    expect(Number(kept)).toBe(Number(number) - 1)
  })

  it('is left as it is where it would still be more than half as long', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const parts = Array.from({ length: 1_000 }, (_, index) => received(index + 1))
    await write(journal, [[begun(1_000), ...parts, received(1, 'again'), ...parts.slice(1, 100)]])
    const before = await readFile(pathOf(folder))

    await read(journal)

    expect(before.length).toBeGreaterThan(64 * 1024)
    expect((await readFile(pathOf(folder))).equals(before)).toBe(true)
  })

  it('is left as it is while it is small, and what another process left beside it goes', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [badNight(5)])
    const before = await readFile(pathOf(folder))
    await writeFile(`${pathOf(folder)}.new`, 'left by a process that died')

    await read(journal)

    expect((await readFile(pathOf(folder))).equals(before)).toBe(true)
    expect(await readdir(join(folder, 'session-k'))).toEqual(['journal'])
  })

  it.skipIf(!canMountHere)('goes on as it is where the short one cannot take its place', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const history = badNight(100)
    await write(journal, [history])
    // A file that something is mounted on cannot be replaced.
    execFileSync('mount', ['--bind', pathOf(folder), pathOf(folder)])
    try {
      const session = await journal.open('k')
      await session.append([confirmed(0)])
      expect(await readdir(join(folder, 'session-k'))).toEqual(['journal', 'lock'])
      await session.close()
    } finally {
      execFileSync('umount', [pathOf(folder)])
    }

    expect(foldJournal(await read(journal))).toEqual(foldJournal([...history, confirmed(0)]))
  })

  it('is made short while it is open, and takes all that is appended meanwhile', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const history = badNight(6_400)
    const session = await journal.open('k')
    let largest = 0
    for (let at = 0; at < history.length; at += 1_000) {
      await session.append(history.slice(at, at + 1_000))
      largest = Math.max(largest, (await stat(pathOf(folder))).size)
    }
    await session.close()

    expect(history.length).toBe(134_401)
    expect(largest).toBeLessThan(8.2 * 1024 ** 2)
    expect(foldJournal(await read(journal))).toEqual(foldJournal(history))
  })

  it('is not read again for every line where it cannot be made short', async () => {
    const folder = await temporary()
    const session = await diskJournal({ folder }).open('k')
    const reads = vi.spyOn(fs, 'readFile')
    syncBuiltinESMExports()
    onTestFinished(() => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    })
    const long = 'x'.repeat(8_000)
    await session.append([begun(1_100), ...Array.from({ length: 1_100 }, (_, index) => received(index + 1, long))])
    await session.append([received(1)])

    reads.mockClear()
    for (let part = 2; part <= 5; part++) await session.append([received(part)])

    expect((await stat(pathOf(folder))).size).toBeGreaterThan(8 * 1024 ** 2)
    expect(reads.mock.calls.map(([path]) => path)).toEqual([])
    await session.close()
  })

  it('stays as it is when there is no room for the short one', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const history = badNight(100)
    await write(journal, [history])
    const before = await readFile(pathOf(folder))
    vi.spyOn(await fileHandles(), 'write').mockRejectedValueOnce(failure('ENOSPC'))

    const session = await journal.open('k')
    expect((await readFile(pathOf(folder))).equals(before)).toBe(true)
    await session.append([confirmed(0)])
    await session.close()

    vi.restoreAllMocks()
    expect(foldJournal(await read(journal))).toEqual(foldJournal([...history, confirmed(0)]))
    expect(await readdir(join(folder, 'session-k'))).toEqual(['journal'])
  })
})
