// A folder as an archive, and back: a new database is a copy of one, because making it from scratch takes PGlite three seconds.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

import { createTar, parseTar } from 'nanotar'

import { inParallel } from '../in-parallel.ts'

/** A system may allow a process a thousand open files, and a database has more. */
export const FILES_AT_ONCE = 16
/** Such an archive ends with two empty blocks, which nanotar leaves out where the last 10 kB are full. It then loses an empty last file. */
const END = new Uint8Array(1024)

/** The files of a folder as a tar archive, with its empty folders. Paths within it may have 100 bytes, which a database's never reach. */
export async function packFolder(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = await inParallel(FILES_AT_ONCE, entries, async (entry) => {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    return entry.isDirectory() ? { name: `${name}/` } : { name, data: await readFile(path) }
  })
  return Buffer.concat([createTar(files), END])
}

/** Writes what is in such an archive below the folder, for its owner alone. */
export async function unpackFolder(archive: ArrayBuffer, folder: string): Promise<void> {
  const entries = parseTar(archive)
  const folders = entries.filter(({ type }) => type === 'directory')
  for (const { name } of folders) await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
  const files = entries.filter(({ type }) => type === 'file')
  // An empty file has no data there.
  await inParallel(FILES_AT_ONCE, files, ({ name, data = '' }) => writeFile(join(folder, name), data, { mode: 0o600 }))
}
