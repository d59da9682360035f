// Which sessions are found in a folder, from journals written by hand.

import fs, {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { descriptors } from '../../../../src/adapters/node/descriptors.ts'
import { diskJournal } from '../../../../src/adapters/node/journal/disk-journal.ts'
import { folderOfKey } from '../../../../src/adapters/node/journal/session-folder.ts'
import { listSessions } from '../../../../src/adapters/node/journal/session-listing.ts'
import { encodeHeader } from '../../../../src/core/journal/journal-lines.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'session-listing-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const BEGUN_MS = 1_763_640_000_000

async function plant(key: string, content: Uint8Array | string): Promise<string> {
  const place = join(root, folderOfKey(key))
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'journal'), content)
  return place
}

const sound = (key: string, afterUs: number) => plant(key, encodeHeader({ key, begunUs: BEGUN_MS * 1000 + afterUs }))

describe('the sessions of a folder', () => {
  it('are listed in the order in which they began, however many there are; those of one moment by their names', async () => {
    const keys = Array.from({ length: 70 }, (_, index) => `night-${String((index * 37) % 70).padStart(2, '0')}`)
    // Two by two of one moment, in the order of their names.
    for (const key of keys) await sound(key, Math.floor(Number(key.slice(-2)) / 2))

    expect(await listSessions(root)).toEqual(keys.toSorted())
  })

  it.runIf(process.platform === 'linux')(
    'are looked at without a file left open, whatever their journals are',
    async () => {
      await sound('k', 0)
      // Its header is longer than what is read first, and does not end.
      await plant('endless', `mocap-uplink-journal 1 00000000 {"key":"${'x'.repeat(20_000)}`)
      await plant('nonsense', 'nonsense\n')

      expect(new Set(await listSessions(root))).toEqual(new Set(['k', 'endless', 'nonsense']))

      const links = (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''))
      expect((await Promise.all(links)).filter((path) => path.startsWith(root))).toEqual([])
    },
  )

  it.each([
    ['of a long journal its beginning', encodeHeader({ key: 'k', begunUs: 1 }), 1_000_000, [4096]],
    [
      'of a header that does not end no more than there is',
      Buffer.from('mocap-uplink-journal 1 00000000 "'),
      19_000,
      [4096, 16_384, 65_536],
    ],
  ] as const)('are read as far as need be: %s', async (_what, beginning, moreBytes, wanted) => {
    const place = await plant('k', Buffer.concat([beginning, Buffer.alloc(moreBytes, 'x')]))
    const handle = await open(join(place, 'journal'))
    await handle.close()
    const read = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'read')

    await listSessions(root)
    // What asks for the rest of a file that has no more says nothing of how far it was to be read.
    const calls = read.mock.calls as unknown as [Uint8Array, number][]
    const asked = calls.flatMap(([into, offset]) => (offset === 0 ? [into.byteLength] : []))
    read.mockRestore()

    expect(asked).toEqual(wanted)
  })

  it('are listed as they are while this process can open nothing more, once something of it is closed', async () => {
    const key = 'Ä'.repeat(300)
    await sound('younger', 2)
    await sound('older', 1)
    await writeFile(join(await plant(key, 'nonsense\n'), 'key'), JSON.stringify(key))
    const closed = descriptors.opened('file')
    const { open, readFile } = fs
    const refused: unknown[] = []
    let isFull = true
    const unlessFull =
      <T extends (...values: never[]) => unknown>(ask: T) =>
      (...values: Parameters<T>): Promise<never> => {
        if (!isFull) return ask(...values) as Promise<never>
        refused.push(values[0])
        return Promise.reject(Object.assign(new Error('none left'), { code: 'EMFILE' }))
      }
    vi.spyOn(fs, 'open').mockImplementation(unlessFull(open))
    vi.spyOn(fs, 'readFile').mockImplementation(unlessFull(readFile))
    syncBuiltinESMExports()
    onTestFinished(() => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    })

    const listing = listSessions(root)
    await vi.waitFor(() => expect(refused).not.toEqual([]))
    isFull = false
    closed()

    expect(await listing).toEqual(['older', 'younger', key])
  })

  it('whose journal cannot be read are listed by the time of their file', async () => {
    await sound('first', 0)
    await sound('last', 2_000_000)
    const place = await plant('broken', 'nonsense\n')
    await utimes(join(place, 'journal'), BEGUN_MS / 1000 + 1, BEGUN_MS / 1000 + 1)

    expect(await listSessions(root)).toEqual(['first', 'broken', 'last'])
  })

  it.skipIf(process.platform === 'win32')(
    'are listed first where their folder cannot be looked into, such as one of another user: nobody may believe that there is nothing to resume',
    async () => {
      await sound('open', 0)
      // Root may look into every folder, but not follow a link that leads to itself.
      await symlink(folderOfKey('night'), join(root, folderOfKey('night')))

      expect(await listSessions(root)).toEqual(['night', 'open'])
    },
  )

  it.each(['{', '7', undefined])('go by their folder where nothing tells their key: %s', async (kept) => {
    const key = 'Ä'.repeat(300)
    const place = await plant(key, 'nonsense\n')
    if (kept !== undefined) await writeFile(join(place, 'key'), kept)

    expect(await listSessions(root)).toEqual([folderOfKey(key)])
  })

  it('are the folders of sessions that have a journal, and nothing else', async () => {
    await sound('k', 0)
    await mkdir(join(root, folderOfKey('empty')))
    await writeFile(join(root, folderOfKey('file')), '')
    await mkdir(join(root, 'removed-1'))
    await writeFile(join(root, 'removed-1', 'journal'), encodeHeader({ key: 'gone', begunUs: 1 }))

    expect(await listSessions(root)).toEqual(['k'])
  })

  it('are none where there is no folder, and cannot be listed where there is something else', async () => {
    await writeFile(join(root, 'file'), '')

    expect(await listSessions(join(root, 'nowhere'))).toEqual([])
    await expect(diskJournal({ folder: join(root, 'file') }).list()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      details: { systemCode: 'ENOTDIR' },
    })
  })
})
