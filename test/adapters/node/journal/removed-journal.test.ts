// A journal whose folder is not there, is something else, or goes while it is open.

import { appendFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { diskJournal } from '../../../../src/adapters/node/journal/disk-journal.ts'
import {
  temporary,
  confirmed,
  received,
  begun,
  pathOf,
  read,
  fileHandles,
  removeAfterEach,
  write,
} from './disk-journal-rig.ts'

removeAfterEach()

describe('a folder in the place of the journal', () => {
  it('is told when the session is opened', async () => {
    const folder = await temporary()
    await mkdir(pathOf(folder), { recursive: true })

    await expect(diskJournal({ folder }).open('k')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: `The journal "${pathOf(folder)}" cannot be opened: there is a folder where the file should be. Move it away.`,
    })
  })

  it('that came later keeps the first records out, leaves nothing aside, and is no obstacle once it is gone', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const session = await journal.open('k')
    await mkdir(pathOf(folder))

    await expect(session.append([begun(1)])).rejects.toMatchObject({ details: { systemCode: 'EISDIR' } })
    expect(await readdir(join(folder, 'session-k'))).toEqual(['journal', 'lock'])
    await rm(pathOf(folder), { recursive: true })
    await session.append([begun(2)])
    await session.close()

    expect(await read(journal)).toEqual([begun(2)])
  })
})

describe('a journal that somebody removes while it is open', () => {
  /** Time of which the test says how it passes. */
  const handClock = () => ({ nowMs: 5_000, wallNow: () => 0, monotonicNow: () => clock.nowMs })
  let clock: ReturnType<typeof handClock>
  beforeEach(() => void (clock = handClock()))

  const long = `video-${'x'.repeat(200)}`

  const removals: readonly (readonly [string, string, (folder: string) => string])[] = [
    ['by itself', 'k', pathOf],
    ['with its folder', 'k', (folder: string) => dirname(pathOf(folder))],
    ['with its folder, under a long key', long, (folder: string) => dirname(pathOf(folder, long))],
    ['with all sessions', 'k', (folder: string) => dirname(folder)],
  ]
  it.each(removals)('is put back whole by the next record that waits for the disk: %s', async (_, key, removed) => {
    const folder = await temporary()
    const journal = diskJournal({ folder, clock })
    const session = await journal.open(key)
    await session.append([begun(3)])
    await session.append([received(1), confirmed(1)])

    clock.nowMs += 1_000
    await rm(removed(folder), { recursive: true })
    await session.append([received(2)])
    await session.append([confirmed(0)])

    expect(await journal.list()).toEqual([key])
    expect(await journal.read(key)).toEqual([begun(3), received(1), confirmed(1), received(2), confirmed(0)])
    await expect(diskJournal({ folder }).open(key)).rejects.toMatchObject({
      message: expect.stringContaining('it is open in this process already') as string,
    })
    await session.append([received(3)])
    await session.close()
    expect(await read(journal, key)).toHaveLength(6)
    expect(await readdir(dirname(pathOf(folder, key)))).toEqual(key === long ? ['journal', 'key'] : ['journal'])
  })

  it('is put back before the first record is written behind a torn tail', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder, clock })
    await write(journal, [[begun(2)]])
    await appendFile(pathOf(folder), 'a torn tail')
    const session = await journal.open('k')
    await rm(pathOf(folder))

    await session.append([received(1)])
    await session.close()

    expect(await read(journal)).toEqual([begun(2), received(1)])
  })

  it.each([
    ['nothing was written since', []],
    ['only what does not wait for the disk was', [received(2)]],
  ])('is put back when it is closed, also a moment after it was looked for, where %s', async (_, written) => {
    const folder = await temporary()
    const journal = diskJournal({ folder, clock })
    const session = await journal.open('k')
    await session.append([begun(3), received(1)])
    await session.append([confirmed(1)])
    await rm(folder, { recursive: true })

    await session.append(written)
    await session.close()

    expect(await read(journal)).toEqual([begun(3), received(1), confirmed(1), ...written])
    expect(await readdir(dirname(pathOf(folder)))).toEqual(['journal'])
  })

  it('is for its owner alone where it is put back, and its name is looked at where a file system counts no links', async () => {
    const folder = await temporary()
    const session = await diskJournal({ folder, clock }).open('k')
    await session.append([begun(1)])
    const { ino } = await stat(pathOf(folder))
    const handles = await fileHandles()
    const realStat = handles.stat
    vi.spyOn(handles, 'stat').mockImplementation(async function (this: unknown) {
      return Object.assign(await Reflect.apply(realStat, this, []), { nlink: 0 })
    })

    await session.append([confirmed(0)])
    expect((await stat(pathOf(folder))).ino).toBe(ino)
    await rm(dirname(folder), { recursive: true })
    clock.nowMs += 1_000
    await session.append([confirmed(0)])

    for (const path of [folder, dirname(pathOf(folder))]) expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect((await stat(pathOf(folder))).mode & 0o777).toBe(0o600)
    await session.close()
  })

  it('is looked for once a second, and once more when it is closed', async () => {
    const session = await diskJournal({ folder: await temporary(), clock }).open('k')
    await session.append([begun(1)])
    const looks = vi.spyOn(await fileHandles(), 'stat')
    const after: number[] = []
    for (const passedMs of [0, 0, 999, 1, 500]) {
      clock.nowMs += passedMs
      await session.append([confirmed(0)])
      after.push(looks.mock.calls.length)
    }
    await session.close()

    expect([after, looks.mock.calls.length]).toEqual([[1, 1, 1, 2, 2], 3])
  })

  it('takes nothing more where it cannot be put back: that is told, and what was refused is not found', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const session = await journal.open('k')
    await session.append([begun(1)])
    await rm(folder, { recursive: true })
    await writeFile(folder, '')

    const wanted = { code: 'ERR_UPLOAD_JOURNAL', details: { path: folder, systemCode: 'EEXIST' } }
    await expect(session.append([confirmed(0)])).rejects.toMatchObject(wanted)
    await rm(folder)
    await expect(session.append([confirmed(0)])).rejects.toMatchObject(wanted)
    await session.close()

    expect(await journal.list()).toEqual([])
  })
})
