// What it takes for bytes and names to survive a power cut: they are written aside, brought to the disk and renamed
// into place, and the folder is brought to the disk as well.

import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import type { Clock } from '../../../core/ports.ts'
import { systemClock } from '../../web/system-clock.ts'
import { errorCode } from '../file-problem.ts'
import { unlessBusy } from '../files/busy-file.ts'
import { writeFully } from '../positional-io.ts'
import { openFile } from './patient-files.ts'

/** Makes a new file (mode 0600) of these pieces and brings it to the disk. If that fails, nothing of it is left. */
export async function writeWhole(path: string, pieces: readonly Uint8Array[]): Promise<void> {
  try {
    const handle = await openFile(path, 'w', 0o600)
    try {
      let at = 0
      for (const piece of pieces) {
        await writeFully(handle, piece, at)
        at += piece.length
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined)
    throw error
  }
}

/**
 * Renames what was just written. On Windows a virus scanner or an indexer may hold it for a moment, and the system then refuses, mostly
 * as if this user had no permission.
 */
export async function renameWritten(
  from: string,
  to: string,
  clock: Clock = systemClock(),
  isWindows = process.platform === 'win32',
): Promise<void> {
  await unlessHeld(() => rename(from, to), clock, isWindows)
}

/** Does what names something that was just written, and again while somebody holds that. */
export function unlessHeld<T>(
  name: () => Promise<T>,
  clock: Clock = systemClock(),
  isWindows = process.platform === 'win32',
): T | Promise<T> {
  return unlessBusy(clock, name, undefined, (error) => isWindows && isHeld(error))
}

/** Whether Windows says that somebody holds a file, or that a name is taken by a folder. */
export function isHeld(error: unknown): boolean {
  return ['EPERM', 'EACCES', 'EBUSY'].includes(errorCode(error) ?? '')
}

/** Makes a folder and those above it (mode 0700), and brings their names to the disk. */
export async function makeFolder(path: string): Promise<void> {
  const first = await makeFolders(path)
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

/**
 * Makes a folder and those above it (mode 0700). Returns the first that was not there. Node's own `recursive` (20 to
 * 24) is not used: it never ends where nothing can be made though the folder above exists (/proc, or what an
 * automounter watches), and reports a read-only disk as ENOENT, as if someone had removed the folder.
 */
export async function makeFolders(path: string, isAboveThere = false): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 })
    return path
  } catch (error) {
    const above = dirname(path)
    if (errorCode(error) === 'ENOENT' && !isAboveThere && above !== path) {
      const first = await makeFolders(above)
      const own = await makeFolders(path, true)
      return first ?? own
    }
    if (await isFolder(path)) return undefined
    throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/** The words of a drive that knows no such thing, as many network drives, and folders that a virtual machine shares with its host. */
const UNKNOWN_THERE = ['EINVAL', 'ENOTSUP']

/** Brings a folder's names to the disk. Windows cannot open a folder for that, and NTFS keeps its own log. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await openFile(path, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if (!UNKNOWN_THERE.includes(errorCode(error) ?? '')) throw error
  } finally {
    await handle.close()
  }
}
