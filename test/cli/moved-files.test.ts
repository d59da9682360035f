// Files of a session that were moved: found again below a folder by name, size and time, and never mistaken for one another.

import { mkdir, mkdtemp, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

import { movedFiles } from '../../src/cli/moved-files.ts'
import { fileSource } from '../../src/node.ts'

/** A folder with these files; each was last written a second after the one before. */
async function folderOf(...names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-moved-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [index, name] of names.entries()) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, name)
    await utimes(path, 1_000 + index, 1_000 + index)
  }
  return folder
}

const identityOf = (path: string) => fileSource(path).describe()

/** What `find` gives for the file that was at `location`, as text. */
async function readBy(find: Awaited<ReturnType<typeof movedFiles>>, location: string, of: string): Promise<string> {
  const reader = await find({ name: 'sent.mp4', location, fileIndex: 0 }).open(await identityOf(of))
  try {
    const bytes = new Uint8Array((await stat(of)).size)
    await reader.read(bytes, 0)
    return new TextDecoder().decode(bytes)
  } finally {
    await reader.close()
  }
}

it('finds a file below the folder by its name, size and time, and of two alike the one whose way there is alike', async () => {
  const folder = await folderOf('new/cam1/a.mp4', 'new/cam2/a.mp4', 'new/cam2/b.mp4')
  for (const cam of ['cam1', 'cam2']) await utimes(join(folder, `new/${cam}/a.mp4`), 1_000, 1_000)

  const find = await movedFiles(join(folder, 'new'))

  for (const name of ['cam1/a.mp4', 'cam2/a.mp4', 'cam2/b.mp4'])
    expect(await readBy(find, join(folder, 'old', name), join(folder, 'new', name))).toBe(`new/${name}`)
})

it('takes a file from where it was while it is what it was, and else from the folder', async () => {
  const folder = await folderOf('old/a.mp4', 'new/a.mp4')
  const [old, moved] = [join(folder, 'old/a.mp4'), join(folder, 'new/a.mp4')]
  const find = await movedFiles(join(folder, 'new'))

  expect(await readBy(find, old, old)).toBe('old/a.mp4')
  // Another card is where the first one was.
  expect(await readBy(find, old, moved)).toBe('new/a.mp4')
})

it('says of a file below the folder that it is another one, and where one is missing in both places', async () => {
  const folder = await folderOf('old/a.mp4', 'new/a.mp4', 'old/b.mp4')
  const expected = await identityOf(join(folder, 'old/a.mp4'))
  await rename(join(folder, 'old'), join(folder, 'gone'))
  const find = await movedFiles(join(folder, 'new'))
  const open = (name: string) => find({ name, location: join(folder, 'old', name), fileIndex: 0 }).open(expected)

  await expect(open('a.mp4')).rejects.toMatchObject({
    code: 'ERR_UPLOAD_SOURCE_CHANGED',
    message: expect.stringContaining(join('new', 'a.mp4')) as string,
  })
  await expect(open('b.mp4')).rejects.toMatchObject({
    code: 'ERR_UPLOAD_SOURCE_READ',
    message: expect.stringContaining(join('old', 'b.mp4')) as string,
  })
})
