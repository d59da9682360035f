// What a journal makes of its files after a crash.

import { appendFile, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { diskJournal } from '../../../../src/adapters/node/journal/disk-journal.ts'
import { folderOfKey } from '../../../../src/adapters/node/journal/session-folder.ts'
import { temporary, confirmed, received, pathOf, write, read, removeAfterEach } from './disk-journal-rig.ts'

removeAfterEach()

describe('a journal after a crash', () => {
  it('drops a torn tail, and cuts it off before it goes on', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)], [confirmed(1)]])
    const whole = await readFile(pathOf(folder))
    await appendFile(pathOf(folder), Buffer.concat([Buffer.alloc(500), Buffer.from('\n{"type":\n')]))

    expect(await read(journal)).toEqual([confirmed(0), confirmed(1)])
    await write(journal, [[confirmed(2)]])

    expect(await read(journal)).toEqual([confirmed(0), confirmed(1), confirmed(2)])
    const now = await readFile(pathOf(folder))
    expect(now.subarray(0, whole.length)).toEqual(whole)
    expect(now.includes(0)).toBe(false)
  })

  it('goes on from every length that a crash can leave', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)], [confirmed(1), confirmed(2)]])
    const whole = await readFile(pathOf(folder))
    const counts = new Set<number>()

    for (let length = whole.length; length >= 0; length -= 7) {
      await writeFile(pathOf(folder), whole.subarray(0, length))
      const session = await journal.open('k')
      const found = [...session.records]
      expect(found).toEqual([confirmed(0), confirmed(1), confirmed(2)].slice(0, found.length))
      await session.append([confirmed(9)])
      await session.close()
      expect(await read(journal)).toEqual([...found, confirmed(9)])
      counts.add(found.length)
    }
    expect(counts).toEqual(new Set([3, 2, 1, 0]))
  })

  it('drops nothing of a journal that was closed: damage is told and the file left as it is', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0), confirmed(1)], [received(1)]])
    const bytes = await readFile(pathOf(folder))
    bytes[bytes.indexOf('receipt')]! ^= 1
    await writeFile(pathOf(folder), bytes)

    await expect(journal.open('k')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: `The journal "${pathOf(folder)}" is damaged in line 4; nothing in it was changed. Put back a copy of the file, or remove this session and upload its files again.`,
    })
    expect(await readFile(pathOf(folder))).toEqual(bytes)
    expect(await journal.list()).toEqual(['k'])
    await journal.remove('k')
    expect(await journal.list()).toEqual([])
  })

  it('refuses another version and changes nothing', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)]])
    const other = Buffer.from('mocap-uplink-journal 3 something new\nthat is torn')
    await writeFile(pathOf(folder), other)

    await expect(journal.open('k')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: expect.stringContaining('has format version 3; this program reads version 1') as string,
    })
    expect(await readFile(pathOf(folder))).toEqual(other)
    expect(await readdir(join(folder, 'session-k'))).toEqual(['journal'])
  })

  it('lists what cannot be read too, under a long key as well', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const long = 'Ä'.repeat(300)
    for (const key of ['first', 'B/second', long]) await write(journal, [[confirmed(0)]], key)
    await truncate(pathOf(folder, 'B/second'), 0)
    await writeFile(pathOf(folder, long), 'nonsense\n')

    expect(new Set(await journal.list())).toEqual(new Set(['first', 'B/second', long]))
  })

  it('refuses a folder that was given the name of another session', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)]], 'one')
    await rename(join(folder, folderOfKey('one')), join(folder, folderOfKey('two')))

    await expect(journal.open('two')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: expect.stringContaining('is that of the session "one", not of "two"') as string,
    })
  })
})
