// The journal on disk: the contract of a journal, and the files that it makes.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { diskJournal, diskJournalOn } from '../../../../src/adapters/node/journal/disk-journal.ts'
import { ownIdentity } from '../../../../src/adapters/node/journal/process-identity.ts'
import { folderOfKey } from '../../../../src/adapters/node/journal/session-folder.ts'
import { journalContract } from '../../../../src/testing/journal-contract.ts'
import {
  temporary,
  onThreads,
  atOnce,
  confirmed,
  write,
  read,
  canMountHere,
  removeAfterEach,
} from './disk-journal-rig.ts'

removeAfterEach()

const quickFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

for (const [name, disk] of [
  ['diskJournal, which writes on threads', onThreads],
  ['diskJournal, which writes at once', atOnce],
] as const) {
  journalContract(name, async () => {
    const parent = await mkdtemp(join(quickFolder, 'disk-journal-'))
    const folder = join(parent, 'state')
    return {
      journal: diskJournalOn(disk, { folder }),
      another: () => diskJournalOn(disk, { folder }),
      cleanUp: () => rm(parent, { recursive: true, force: true }),
    }
  })
}

describe('sessions that begin in the same millisecond', () => {
  it('are listed in the order in which they began', async () => {
    const journal = diskJournal({ folder: await temporary(), clock: { wallNow: () => 1_000, monotonicNow: () => 0 } })
    for (const key of ['c', 'a', 'b']) await write(journal, [[confirmed(0)]], key)

    expect(await journal.list()).toEqual(['c', 'a', 'b'])
  })
})

describe('a disk that takes only the beginning of what is written at once', () => {
  it('is given the rest, and no line is lost or torn', async () => {
    const folder = await temporary()
    const askNow = <T>(work: () => T): T => {
      const taken = work()
      return typeof taken === 'number' ? ((taken - 7) as T) : taken
    }
    const session = await diskJournalOn({ mayAskNow: () => true, askNow }, { folder }).open('k')
    const records = [0, 1, 2, 3].map((fileIndex) => confirmed(fileIndex))
    for (const record of records) await session.append([record])
    await session.close()

    const again = await diskJournal({ folder }).open('k')
    await again.close()

    expect(again.records).toEqual(records)
  })
})

describe('the files of diskJournal', () => {
  it('are for their owner alone', async () => {
    const folder = await temporary()
    const session = await diskJournal({ folder }).open('k')
    await session.append([confirmed(0)])

    const modes: Record<string, string> = {}
    for (const name of ['.', ...(await readdir(folder, { recursive: true }))]) {
      modes[name.replace(/[0-9a-f-]{36}$/, 'owner')] = ((await stat(join(folder, name))).mode & 0o777).toString(8)
    }
    await session.close()

    expect(modes).toEqual({
      '.': '700',
      'session-k': '700',
      'session-k/journal': '600',
      'session-k/lock': '700',
      'session-k/lock/owner': '600',
    })
  })

  it('leave nothing of a session without a record, whatever its key', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })

    for (const key of ['k', 'Ä'.repeat(200)]) await (await journal.open(key)).close()

    expect(await readdir(folder)).toEqual([])
  })

  it('leave nothing of a session that is removed, nor of a removal that was cut short', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)]], 'one')
    await write(journal, [[confirmed(0)]], 'two')
    await rename(join(folder, folderOfKey('one')), join(folder, 'removed-half'))

    await journal.remove('two')

    expect(await readdir(folder)).toEqual([])
  })

  it('are let go only once all is in them that was appended before', async () => {
    const journal = diskJournal({ folder: await temporary() })
    const session = await journal.open('k')
    let isThere = false
    void Promise.resolve(session.append([confirmed(0)])).then(() => (isThere = true))
    await session.close()

    expect(isThere).toBe(true)
  })

  it.skipIf(!canMountHere)('are opened also where what a dead process left beside them cannot be removed', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)]])
    const left = join(folder, 'session-k', 'lock-1234')
    await mkdir(join(left, 'busy'), { recursive: true })
    await writeFile(join(left, '1234'), JSON.stringify({ ...(await ownIdentity()), start: '1' }))
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(left, 'busy')])
    try {
      expect(await read(journal)).toEqual([confirmed(0)])
    } finally {
      execFileSync('umount', [join(left, 'busy')])
    }
  })

  it('are not made by a look: list and remove in a folder that is not there', async () => {
    const folder = await temporary()

    expect(await diskJournal({ folder }).list()).toEqual([])
    await diskJournal({ folder }).remove('k')
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it.each(
    [
      ...['', '\ud800', '\udc00', ' ', 'nul', 'COM1.txt', '%61', 'session-k'],
      ...['a'.repeat(5000), '⚾'.repeat(200)],
    ].map((key) => ({ key, label: key.slice(0, 9) })),
  )('take $label as a key', async ({ key }) => {
    const journal = diskJournal({ folder: await temporary() })
    await write(journal, [[confirmed(3)]], key)

    expect(await journal.list()).toEqual([key])
    expect(await read(journal, key)).toEqual([confirmed(3)])
  })
})
