// Which sessions a folder holds, found without a lock from the first bytes of each journal.

import { rm, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { decodeHeader } from '../../../core/journal/journal-lines.ts'
import { renameWritten, writeWhole } from './durable-file.ts'
import { errorCode } from '../file-problem.ts'
import { journalPath } from './journal-file.ts'
import { namesIn, openFile, textIn } from './patient-files.ts'
import { readFully } from '../positional-io.ts'
import { folderOfKey, isNameWhole, isSessionFolder, keyOfFolder } from './session-folder.ts'

/** Journals that are looked at together: enough to keep a disk busy, few enough for any limit of open files. */
const AT_ONCE = 32
const HEAD_BYTES = 4096

interface FoundSession {
  readonly name: string
  readonly key: string
  readonly begunUs: number
}

/** Keys of the sessions that have a journal, readable or not, oldest first; none if the folder does not exist. */
export async function listSessions(root: string): Promise<readonly string[]> {
  const names = (await namesIn(root)).filter(isSessionFolder)
  const found: FoundSession[] = []
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const slice = await Promise.all(names.slice(at, at + AT_ONCE).map((name) => findSession(root, name)))
    for (const session of slice) if (session !== undefined) found.push(session)
  }
  found.sort((one, other) => one.begunUs - other.begunUs || (one.name < other.name ? -1 : 1))
  return found.map(({ key }) => key)
}

/** Stores the key of a folder whose name does not tell it, for the day when its journal cannot be read. */
export async function keepKey(place: string, key: string): Promise<void> {
  if (isNameWhole(folderOfKey(key)) || (await keptKey(place)) === key) return
  const path = keyPath(place)
  await writeWhole(`${path}.new`, [Buffer.from(JSON.stringify(key))])
  await renameWritten(`${path}.new`, path)
}

/** Removes the stored key if no journal was begun. */
export async function forgetKey(place: string): Promise<void> {
  const hasJournal = await stat(journalPath(place)).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  )
  if (!hasJournal) await rm(keyPath(place), { force: true })
}

async function findSession(root: string, name: string): Promise<FoundSession | undefined> {
  const place = join(root, name)
  const path = journalPath(place)
  // A folder that cannot be looked into, such as one that root has made, may have one.
  const file = await stat(path).catch((error: unknown) =>
    ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '') ? undefined : { mtimeMs: 0 },
  )
  if (file === undefined) return undefined
  const header = await readHeader(path)
  if (header !== undefined) return { name, ...header }
  // The journal cannot be read. It is listed nevertheless, so that somebody can look at it and remove it.
  const key = isNameWhole(name) ? keyOfFolder(name) : await keptKey(place)
  return { name, key: key ?? name, begunUs: file.mtimeMs * 1000 }
}

async function readHeader(path: string): Promise<{ key: string; begunUs: number } | undefined> {
  let handle: FileHandle | undefined
  try {
    handle = await openFile(path, 'r')
    for (let length = HEAD_BYTES; ; length *= 4) {
      const bytes = new Uint8Array(length)
      const readBytes = await readFully(handle, bytes, 0)
      const found = decodeHeader(bytes.subarray(0, readBytes), path)
      if (found !== undefined || readBytes < length) return found?.header
    }
  } catch {
    return undefined
  } finally {
    await handle?.close().catch(() => undefined)
  }
}

async function keptKey(place: string): Promise<string | undefined> {
  try {
    const key: unknown = JSON.parse(await textIn(keyPath(place)))
    return typeof key === 'string' ? key : undefined
  } catch {
    return undefined
  }
}

function keyPath(place: string): string {
  return join(place, 'key')
}
