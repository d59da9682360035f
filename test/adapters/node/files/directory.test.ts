import { execFileSync } from 'node:child_process'
import { writeFileSync, type StatOptions } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile, type stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { filesUnder } from '../../../../src/adapters/node/files/directory.ts'

/** Whether files and folders have numbers, as on most drives. */
let isNumbered = true

vi.mock('node:fs/promises', async (original) => {
  const real = await original<{ stat: typeof stat }>()
  return {
    ...real,
    async stat(path: string, options?: StatOptions) {
      const facts = await real.stat(path, options)
      return isNumbered ? facts : Object.assign(facts, { ino: typeof facts.ino === 'bigint' ? 0n : 0 })
    },
  }
})

const made: string[] = []

/** Makes a folder with these files; a name that ends in a slash is an empty folder. */
async function folderOf(...names: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'directory-'))
  made.push(folder)
  for (const name of names) {
    const path = join(folder, name)
    await mkdir(name.endsWith('/') ? path : dirname(path), { recursive: true })
    if (!name.endsWith('/')) await writeFile(path, name)
  }
  return folder
}

async function pathsUnder(folder: string): Promise<string[]> {
  const { files } = await filesUnder([folder])
  return files.map((file) => relative(folder, file.path).split(sep).join('/'))
}

describe('filesUnder', () => {
  afterEach(async () => {
    for (const folder of made.splice(0)) await rm(folder, { recursive: true })
  })

  it('takes a file as itself, whatever it is called', async () => {
    const folder = await folderOf('.hidden.tmp')
    const path = join(folder, '.hidden.tmp')

    const found = { files: [{ path, name: '.hidden.tmp' }], skipped: [] }
    expect(await filesUnder([path])).toEqual(found)
    // Its letters are no paths.
    expect(await filesUnder(path)).toEqual(found)
  })

  it('takes the files of a folder in the order in which a person counts', async () => {
    const folder = await folderOf('take-10.mp4', 'take-9.mp4', 'take-1.mp4', 'Take-2.mp4', 'take-2.mp4', 'take-02.mp4')

    expect(await pathsUnder(folder)).toEqual([
      'take-1.mp4',
      'take-02.mp4',
      'take-2.mp4',
      'Take-2.mp4',
      'take-9.mp4',
      'take-10.mp4',
    ])
  })

  it('takes the files of all subfolders of a drive that gives folders no numbers, as Windows does of a memory card', async () => {
    isNumbered = false
    onTestFinished(() => void (isNumbered = true))
    const folder = await folderOf('DCIM/100/1.mp4', 'DCIM/101/2.mp4')

    expect(await filesUnder(folder)).toMatchObject({ files: [{ name: '1.mp4' }, { name: '2.mp4' }], skipped: [] })
  })

  it('takes the files of subfolders where their folder comes in that order', async () => {
    const folder = await folderOf(
      'inning 10/1.c3d',
      'inning 2/b.c3d',
      'inning 2/a.c3d',
      'inning 2-x/1.c3d',
      'a.c3d',
      'z.c3d',
    )

    expect(await pathsUnder(folder)).toEqual([
      'a.c3d',
      'inning 2/a.c3d',
      'inning 2/b.c3d',
      'inning 2-x/1.c3d',
      'inning 10/1.c3d',
      'z.c3d',
    ])
    expect((await filesUnder([folder])).files[1]?.name).toBe('a.c3d')
  })

  it('keeps the order of its arguments', async () => {
    const first = await folderOf('z.mp4')
    const second = await folderOf('b.mp4', 'a.mp4')

    const { files } = await filesUnder([join(first, 'z.mp4'), second, first])

    expect(files.map((file) => file.name)).toEqual(['z.mp4', 'a.mp4', 'b.mp4', 'z.mp4'])
  })

  it('leaves junk out and names it with its reason', async () => {
    const folder = await folderOf(
      'keep.mp4',
      '.DS_Store',
      'Thumbs.db',
      'DESKTOP.INI',
      '~$notes.docx',
      'a.tmp',
      'b.PART',
      'c.crdownload',
      '._keep.mp4',
      '.git/config',
      'empty/',
      'System Volume Information/WPSettings.dat',
      '$RECYCLE.BIN/old.mp4',
      'lost+found/7',
      '__MACOSX/keep.mp4',
      'party.mp4',
    )

    const { files, skipped } = await filesUnder([folder])

    expect(files.map((file) => file.name)).toEqual(['keep.mp4', 'party.mp4'])
    expect(Object.fromEntries(skipped.map(({ path, reason }) => [relative(folder, path), reason]))).toEqual({
      '.DS_Store': 'a Finder file',
      'Thumbs.db': 'a thumbnail file of Windows',
      'DESKTOP.INI': 'a folder setting of Windows',
      '~$notes.docx': 'a lock file of an office program',
      'a.tmp': 'a temporary file',
      'b.PART': 'a download that is not complete',
      'c.crdownload': 'a download that is not complete',
      '._keep.mp4': 'hidden',
      '.git': 'hidden',
      empty: 'an empty folder',
      'System Volume Information': "the system's own",
      '$RECYCLE.BIN': "the system's own",
      'lost+found': "the system's own",
      __MACOSX: 'what macOS puts into archives',
    })
  })

  it('takes a folder that is hidden when it is named itself', async () => {
    const folder = await folderOf('.captures/1.c3d')

    expect(await pathsUnder(join(folder, '.captures'))).toEqual(['1.c3d'])
  })

  it.skipIf(process.platform === 'win32')('follows links to files and folders, and names the broken ones', async () => {
    const other = await folderOf('real.mp4', 'sub/deep.mp4')
    const folder = await folderOf('a.mp4')
    await symlink(join(other, 'real.mp4'), join(folder, 'link.mp4'))
    await symlink(join(other, 'sub'), join(folder, 'folder'))
    await symlink(join(other, 'gone.mp4'), join(folder, 'broken.mp4'))

    expect(await pathsUnder(folder)).toEqual(['a.mp4', 'folder/deep.mp4', 'link.mp4'])
    expect((await filesUnder([folder])).skipped).toEqual([
      { path: join(folder, 'broken.mp4'), reason: 'a link that leads nowhere' },
    ])
  })

  it.skipIf(process.platform === 'win32')('enters each folder once, however the links run', async () => {
    const folder = await folderOf('one/1.c3d', 'two/2.c3d')
    await symlink(folder, join(folder, 'one', 'up'))
    await symlink(join(folder, 'two'), join(folder, 'one', 'across'))
    await symlink(join(folder, 'one'), join(folder, 'two', 'back'))
    await symlink('self', join(folder, 'self'))

    const { skipped } = await filesUnder([folder])

    expect(await pathsUnder(folder)).toEqual(['one/1.c3d', 'one/across/2.c3d'])
    expect(skipped.map(({ path, reason }) => [relative(folder, path), reason])).toEqual([
      ['one/across/back', 'a link to a folder that is taken already'],
      ['one/up', 'a link to a folder that is taken already'],
      ['self', 'a link that leads nowhere'],
      ['two', 'a link to a folder that is taken already'],
    ])
  })

  it.skipIf(process.platform === 'win32')(
    'takes nothing that lies beside the folder, whichever link leads up',
    async () => {
      const parent = await folderOf('card/sub/1.c3d', 'other/2.c3d', '3.c3d')
      await symlink('..', join(parent, 'card', 'loop'))
      await symlink('/', join(parent, 'card', 'sub', 'root'))
      await symlink('../..', join(parent, 'other', 'up'))
      await symlink('../other', join(parent, 'card', 'beside'))
      await symlink('card', join(parent, 'given'))

      const given = join(parent, 'given')
      const { files, skipped } = await filesUnder([given])

      expect(files.map(({ path }) => relative(given, path))).toEqual(['beside/2.c3d', 'sub/1.c3d'])
      expect(skipped.map(({ path, reason }) => [relative(given, path), reason])).toEqual([
        ['beside/up', 'a link to a folder that it lies in'],
        ['loop', 'a link to a folder that it lies in'],
        ['sub/root', 'a link to a folder that it lies in'],
      ])
    },
  )

  it.skipIf(process.platform === 'win32')('leaves pipes out in a folder, and refuses one that is named', async () => {
    const folder = await folderOf('a.mp4')
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])

    expect((await filesUnder([folder])).skipped).toEqual([{ path: pipe, reason: 'a pipe, device or socket' }])
    await expect(filesUnder([pipe])).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
  })

  it('refuses a folder without a file to upload, naming what it skipped there', async () => {
    const other = await folderOf('take-1.mp4', 'take-2.tmp')
    const folder = await folderOf('.DS_Store', 'sub/')

    await expect(filesUnder([other, folder])).rejects.toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message: `There is no file to upload in "${folder}". Skipped: .DS_Store (a Finder file), sub (an empty folder).`,
    })
  })

  it.skipIf(process.platform !== 'linux').each(['take-\xe9.mp4', 'inning-\xe9/'])(
    'refuses what it cannot ask for by its name (%s), rather than leaving it out',
    async (name) => {
      const folder = await folderOf('a.mp4')
      const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')])
      if (name.endsWith('/')) await mkdir(path)
      else await writeFile(path, '')

      await expect(filesUnder([folder])).rejects.toMatchObject({
        code: 'ERR_UPLOAD_SOURCE_READ',
        message: `"${folder}/${name.replace('\xe9', '\ufffd').replace('/', '')}" cannot be read: its name is not UTF-8. Rename it.`,
      })
    },
  )

  it('refuses a path of bytes that are not UTF-8 for its name: Node is given it without them', async () => {
    const path = join(await folderOf(), 'take-\ufffd.mp4')

    await expect(filesUnder([path])).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_READ',
      message: `"${path}" cannot be read: its name is not UTF-8. Rename it.`,
    })
  })

  it('refuses a path at which there is nothing', async () => {
    const folder = await folderOf()
    const path = join(folder, 'nothing')

    await expect(filesUnder([path])).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_READ',
      message: `"${path}" cannot be read: there is nothing at this path. Check the path.`,
    })
  })

  it('takes a thousand files in order', async () => {
    const folder = await folderOf()
    for (let index = 999; index >= 0; index -= 1) writeFileSync(join(folder, `t${String(index)}.c3d`), '')

    const { files } = await filesUnder([folder])

    expect(files).toHaveLength(1_000)
    expect(files.map((file) => file.name)).toEqual(Array.from({ length: 1_000 }, (_, index) => `t${String(index)}.c3d`))
  })
})
