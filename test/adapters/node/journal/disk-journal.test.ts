import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import {
  appendFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import type { QuickDisk } from '../../../../src/adapters/node/files/quick-disk.ts'
import { diskJournal, diskJournalOn } from '../../../../src/adapters/node/journal/disk-journal.ts'
import { folderOfKey } from '../../../../src/adapters/node/journal/session-folder.ts'
import { foldJournal } from '../../../../src/core/journal/fold-journal.ts'
import type { JournalRecord } from '../../../../src/core/journal/journal.ts'
import { decodeJournal } from '../../../../src/core/journal/journal-lines.ts'
import type { Journal } from '../../../../src/core/ports.ts'
import { journalContract } from '../../../../src/testing/journal-contract.ts'
import { canMount } from '../../../helpers/can-mount.ts'

const quickFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const folders: string[] = []

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'disk-journal-'))
  folders.push(folder)
  return join(folder, 'state')
}

afterEach(async () => {
  vi.restoreAllMocks()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** Network drives and other platforms. */
const onThreads: QuickDisk = { mayAskNow: () => false, askNow: (work) => work() }
const atOnce: QuickDisk = { mayAskNow: () => true, askNow: (work) => work() }

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

const confirmed = (fileIndex: number): JournalRecord => ({ type: 'file.confirmed', at: 1, fileIndex })
const received = (partNumber: number, padding = ''): JournalRecord => ({
  ...{ type: 'part.received', at: 1, fileIndex: 0, partNumber },
  receipt: { acceptedEnd: 10 * partNumber, etag: `"e${String(partNumber)}${padding}"`, isVerified: true },
})
const begun = (partCount: number): JournalRecord => ({
  ...{ type: 'session.begun', at: 1, version: 1, key: 'k', flow: 'video', params: {} },
  files: [{ fileIndex: 0, name: 'clip', sizeBytes: partCount * 10, partCount, partSizeBytes: 10 }],
  locations: ['/clip'],
})

const pathOf = (folder: string, key = 'k') => join(folder, folderOfKey(key), 'journal')

async function write(journal: Journal, batches: readonly (readonly JournalRecord[])[], key = 'k'): Promise<void> {
  const session = await journal.open(key)
  for (const batch of batches) await session.append(batch)
  await session.close()
}

async function read(journal: Journal, key = 'k'): Promise<readonly JournalRecord[]> {
  const session = await journal.open(key)
  await session.close()
  return session.records
}

/** Watches the one class that all open files are of. */
async function fileHandles(): Promise<
  Record<'datasync' | 'sync', () => Promise<void>> & {
    stat(): Promise<Stats>
    truncate(length?: number): Promise<void>
    write(): Promise<unknown>
  }
> {
  const handle = await open(import.meta.filename, 'r')
  await handle.close()
  return Object.getPrototypeOf(handle) as ReturnType<typeof fileHandles>
}

/** The files below a folder that this process has open, those that are gone included. */
function openFiles(folder: string): string[] {
  const found = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // The one that reads this list.
      return ''
    }
  })
  return found.filter((path) => path.startsWith(folder))
}

const canMountHere = process.platform === 'linux' && process.getuid?.() === 0 && canMount()

const failure = (code: string): Error => Object.assign(new Error(code), { code })

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

  it.each([
    ['nothing was written since', []],
    ['only what does not wait for the disk was', [received(2)]],
  ])('is put back when it is closed, where %s', async (_, written) => {
    const folder = await temporary()
    const journal = diskJournal({ folder })
    const session = await journal.open('k')
    await session.append([begun(3), received(1)])
    await rm(folder, { recursive: true })

    await session.append(written)
    await session.close()

    expect(await read(journal)).toEqual([begun(3), received(1), ...written])
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

describe('a disk that takes nothing', () => {
  if (!canMountHere) process.stdout.write('SKIPPED: a really full disk needs root on Linux to mount a tmpfs\n')

  // Node's own way of making a folder and those above it asks there without an end.
  it.runIf(process.platform === 'linux')('because nothing can be made there is told, and not waited for', async () => {
    await expect(diskJournal({ folder: '/proc/mocap-uplink/state' }).open('k')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      details: { systemCode: 'ENOENT' },
    })
  })

  it.skipIf(!canMountHere)('because it is read-only is told so, not that someone took the folder away', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'disk-journal-read-only-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', parent])
    try {
      for (const folder of [join(parent, 'state', 'sessions'), parent]) {
        await expect(diskJournal({ folder }).open('k')).rejects.toMatchObject({
          code: 'ERR_UPLOAD_JOURNAL',
          message: expect.stringContaining('the disk is read-only. Choose another state folder') as string,
          details: { systemCode: 'EROFS' },
        })
      }
    } finally {
      execFileSync('umount', [parent])
      await rm(parent, { recursive: true })
    }
  })

  it.skipIf(!canMountHere)(
    'because it is full is told, loses nothing that was settled, and is no obstacle once there is room',
    async () => {
      const parent = await mkdtemp(join(tmpdir(), 'disk-journal-full-'))
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', parent])
      try {
        const journal = diskJournal({ folder: join(parent, 'state') })
        const session = await journal.open('k')
        await session.append([begun(10_000)])
        const ballast = join(parent, 'ballast')
        await writeFile(ballast, Buffer.alloc(700_000))
        const settled: JournalRecord[] = [begun(10_000)]
        let problem: unknown
        for (let part = 1; problem === undefined && part <= 10_000; part++) {
          const record = received(part, 'x'.repeat(900))
          await Promise.resolve(session.append([record])).then(
            () => settled.push(record),
            (error: unknown) => (problem = error),
          )
        }
        expect(problem).toMatchObject({ code: 'ERR_UPLOAD_JOURNAL', details: { systemCode: 'ENOSPC' } })
        expect(settled.length).toBeGreaterThan(50)

        await rm(ballast)
        await session.append([confirmed(0)])
        await session.close()

        expect(await read(journal)).toEqual([...settled, confirmed(0)])
        await writeFile(ballast, Buffer.alloc(2_000_000)).catch(() => undefined)
        await expect(journal.open('another')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
        expect(await journal.list()).toEqual(['k'])
      } finally {
        execFileSync('umount', [parent])
        await rm(parent, { recursive: true, force: true })
      }
    },
  )
})

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
