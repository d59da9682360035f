// When a journal calls what it took durable, and what that costs.

import { appendFile, mkdir, readFile, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it, vi } from 'vitest'
import type { QuickDisk } from '../../../../src/adapters/node/files/quick-disk.ts'
import { diskJournal, diskJournalOn } from '../../../../src/adapters/node/journal/disk-journal.ts'
import { makeFolder } from '../../../../src/adapters/node/journal/durable-file.ts'
import { decodeJournal } from '../../../helpers/decode-journal.ts'
import {
  temporary,
  onThreads,
  atOnce,
  confirmed,
  received,
  begun,
  pathOf,
  write,
  read,
  fileHandles,
  openFiles,
  failure,
  removeAfterEach,
} from './disk-journal-rig.ts'

removeAfterEach()

describe('durability', () => {
  it('costs few fsyncs: records in flight share them, received parts do not wait', async () => {
    const handles = await fileHandles()
    const datasync = vi.spyOn(handles, 'datasync')
    const sync = vi.spyOn(handles, 'sync')
    const clock = { wallNow: () => 1, monotonicNow: () => 0 }
    const journal = diskJournal({ folder: await temporary(), clock })
    const session = await journal.open('k')
    await session.append([begun(2000)])
    datasync.mockClear()
    sync.mockClear()

    let next = 1
    const worker = async (): Promise<void> => {
      while (next <= 2000) await session.append([received(next++)])
    }
    await Promise.all(Array.from({ length: 16 }, worker))
    expect(datasync.mock.calls.length + sync.mock.calls.length).toBe(0)
    await session.append([{ type: 'file.confirming', at: 1, fileIndex: 0 }])
    expect(datasync.mock.calls.length + sync.mock.calls.length).toBe(1)

    next = 1
    const confirming = async (): Promise<void> => {
      while (next++ <= 320) await session.append([confirmed(0)])
    }
    await Promise.all(Array.from({ length: 16 }, confirming))
    // 20 rounds of 16, and a few where they do not meet.
    expect(datasync.mock.calls.length).toBeLessThan(60)
    expect(datasync.mock.calls.length).toBeGreaterThan(10)
    await session.close()
  })

  it('includes the name of each folder that is made, in the one above it', async () => {
    const folder = join(await temporary(), 'own')
    const sync = vi.spyOn(await fileHandles(), 'sync')

    await makeFolder(folder)
    expect(sync).toHaveBeenCalledTimes(2)

    await makeFolder(folder)
    expect(sync).toHaveBeenCalledTimes(2)
  })

  it.each(['EINVAL', 'ENOTSUP'])(
    'is left to the drive where that cannot bring folders to the disk, as many network drives cannot: %s',
    async (code) => {
      const handles = await fileHandles()
      const sync = handles.sync
      vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
        if ((await this.stat()).isDirectory()) throw failure(code)
        await sync.call(this)
      })
      const journal = diskJournal({ folder: join(await temporary(), 'own') })

      await write(journal, [[begun(1), confirmed(0)]])

      expect(await read(journal)).toEqual([begun(1), confirmed(0)])
    },
  )

  it.each([
    ['the lock', 'open', 1],
    ['the first records', 'append', 1],
    ['the name of the first records', 'append', 2],
    ['the name of their folder', 'append', 3],
  ] as const)('of %s is waited for: no promise is given on a disk that fails', async (_, step, place) => {
    const folder = await temporary()
    await mkdir(folder)
    const handles = await fileHandles()
    const failNext = (): void => {
      const sync = vi.spyOn(handles, 'sync')
      for (let good = 1; good < place; good += 1) sync.mockResolvedValueOnce()
      sync.mockRejectedValueOnce(failure('EIO'))
    }
    const journal = diskJournal({ folder })
    if (step === 'open') failNext()
    const opening = journal.open('k')
    if (step === 'open') {
      await expect(opening).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
      return
    }
    const session = await opening
    failNext()

    await expect(session.append([begun(1)])).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    await session.close()
  })

  it('of the cut of a torn tail is waited for, or its lines could show up again behind new ones', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)]])
    await appendFile(pathOf(folder), 'a torn tail')
    const session = await journal.open('k')
    vi.spyOn(await fileHandles(), 'datasync').mockRejectedValueOnce(failure('EIO'))

    await expect(session.append([received(1)])).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    await session.close()
  })

  it('of the cut of a torn tail is asked for once, when it is cut', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)]])
    const whole = (await stat(pathOf(folder))).size
    await appendFile(pathOf(folder), 'a torn tail')
    const session = await journal.open('k')
    const sizes: number[] = []
    vi.spyOn(await fileHandles(), 'datasync').mockImplementation(async () => {
      sizes.push((await stat(pathOf(folder))).size)
    })

    await session.append([received(1)])
    await session.append([received(2)])
    expect(sizes).toEqual([whole])
    await session.close()
  })

  it('of what was found is made sure before it is relied on', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)], [confirmed(1)]])
    const lines = (await readFile(pathOf(folder), 'utf8')).split('\n')
    await writeFile(pathOf(folder), lines.slice(0, 2).join('\n') + '\n')
    vi.spyOn(await fileHandles(), 'datasync').mockRejectedValueOnce(failure('EIO'))

    await expect(journal.open('k')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: `The journal "${pathOf(folder)}" cannot be opened: the disk failed. Check the device, then go on.`,
    })
    if (process.platform === 'linux') expect(openFiles(folder)).toEqual([])
    expect(await read(journal)).toEqual([confirmed(0)])
  })

  it('that failed is not believed later: the session takes nothing more, and what was refused is not found', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const session = await journal.open('k')
    await session.append([begun(3)])
    await session.append([confirmed(1)])
    const handles = await fileHandles()
    vi.spyOn(handles, 'datasync').mockRejectedValueOnce(failure('EIO'))
    const realTruncate = handles.truncate
    let isCut = false
    vi.spyOn(handles, 'truncate').mockImplementationOnce(async function (this: unknown, length?: number) {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      await Reflect.apply(realTruncate, this, [length])
      isCut = true
    })

    const wanted = { code: 'ERR_UPLOAD_JOURNAL', details: { path: pathOf(folder), systemCode: 'EIO' } }
    await expect(session.append([confirmed(0)])).rejects.toMatchObject(wanted)
    expect(isCut).toBe(true)
    expect(decodeJournal(await readFile(pathOf(folder)), 'f').records).toEqual([begun(3), confirmed(1)])
    await expect(session.append([received(1)])).rejects.toMatchObject(wanted)
    await session.close()

    expect(await read(journal)).toEqual([begun(3), confirmed(1)])
  })

  it('that failed is told as it was, also where nothing can be cut off, and nobody calls it kept later', async () => {
    const folder = await temporary()
    const session = await diskJournal({ folder }).open('k')
    await session.append([begun(3)])
    const handles = await fileHandles()
    vi.spyOn(handles, 'datasync').mockRejectedValueOnce(failure('EIO'))
    vi.spyOn(handles, 'truncate').mockRejectedValueOnce(failure('EBADF'))

    await expect(session.append([confirmed(0)])).rejects.toMatchObject({ details: { systemCode: 'EIO' } })
    await session.close()
    expect(decodeJournal(await readFile(pathOf(folder)), 'f')).toMatchObject({ lineCount: 2, isKept: false })
  })

  it('is nothing that a journal asks for when it is opened and closed, or goes on where it was complete', async () => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    await write(journal, [[confirmed(0)]])
    const before = await readFile(pathOf(folder))
    const datasync = vi.spyOn(await fileHandles(), 'datasync')

    await read(journal)
    expect((await readFile(pathOf(folder))).equals(before)).toBe(true)
    const session = await journal.open('k')
    await session.append([received(1)])

    expect(datasync).not.toHaveBeenCalled()
    await session.close()
  })

  it.each([
    ['at once', true, onThreads],
    ['by the next one where that failed too', false, onThreads],
    ['at once, when it was written on the calling thread', true, atOnce],
  ])(
    'holds nothing back after a write that failed: it is cut off, whole lines too, %s',
    async (_, isCutAtOnce, disk) => {
      const folder = await temporary()
      let isFull = false
      const filling: QuickDisk = {
        ...disk,
        askNow(work) {
          const done = work()
          if (!isFull) return done
          isFull = false
          throw failure('ENOSPC')
        },
      }
      const session = await diskJournalOn(filling, { folder }).open('k')
      await session.append([begun(3)])
      isFull = true
      const handles = await fileHandles()
      const realWrite = handles.write
      if (disk === onThreads)
        vi.spyOn(handles, 'write').mockImplementationOnce(async function (this: unknown, ...args: unknown[]) {
          await Reflect.apply(realWrite, this, args)
          throw failure('ENOSPC')
        })
      if (!isCutAtOnce) vi.spyOn(handles, 'truncate').mockRejectedValueOnce(failure('EIO'))

      await expect(session.append([confirmed(0), confirmed(1)])).rejects.toMatchObject({
        message: `The journal "${pathOf(folder)}" cannot be written: the disk is full. Free some space, then go on.`,
      })
      const left = isCutAtOnce ? [begun(3)] : [begun(3), confirmed(0), confirmed(1)]
      expect(decodeJournal(await readFile(pathOf(folder)), 'f').records).toEqual(left)
      await session.append([confirmed(2)])

      expect(decodeJournal(await readFile(pathOf(folder)), 'f').records).toEqual([begun(3), confirmed(2)])
      await session.close()
    },
  )
})
