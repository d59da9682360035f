// Guards the space on the data folder's disk: what would fill it is refused while there is still room for the database.
//
// The embedded database must never meet a full disk. Measured with PGlite 0.5: when its log cannot grow, it falls into a loop that
// blocks the whole process and that neither a signal nor freed space ends. On a full disk it does not start.

import { statfs } from 'node:fs/promises'

import { makeFolder } from '../make-folder.ts'

const MIB = 1024 ** 2

/** Two segments of the database's log. */
const START_BYTES = 32 * MIB
/** The size of a new database. */
const NEW_DATABASE_BYTES = 48 * MIB
/** Promised to every body ahead of its bytes. */
const LEAST_AHEAD_BYTES = MIB
/** Inodes reserved for the database. Once it could not make a file, it took no record until the next start. */
const KEPT_FILES = 256

/** The disk has no room for what was to be written. Nothing was done. */
export class DiskFullError extends Error {
  readonly code = 'ERR_SERVICE_DATA_FULL'
}

/** A body on its way to the disk. */
export interface ExpectedBody {
  /** Call it before the bytes are written, and after those before them are. */
  arrived(bytes: number): Promise<void>
  /** Must be called at the end, whether or not the body is complete. */
  end(): void
}

/** Each method rejects with DiskFullError when there is no room. */
export interface DiskRoom {
  /** Needs room for a few rows: half of the reserve. */
  forRecord(): Promise<void>
  /**
   * Needs room for this body on top of the reserve and of what is promised to other bodies on their way. As it comes, it is promised
   * as much again as has come, so that a body that trickles, or stops, keeps no other out.
   */
  forBody(bytes: number): Promise<ExpectedBody>
}

/** Guards a disk that has `free` bytes left, `keepFreeBytes` of them reserved for the database; 0 turns the checks off. */
export function diskRoom(free: () => Promise<number>, keepFreeBytes: number): DiskRoom {
  let promisedBytes = 0
  const need = async (bytes: number) => {
    if (keepFreeBytes > 0 && (await free()) < bytes) {
      throw new DiskFullError(`The disk of the data folder has less than ${inMib(bytes)} free.`)
    }
  }
  return {
    forRecord: () => need(keepFreeBytes / 2),
    async forBody(bytes) {
      let writtenBytes = 0
      let unwrittenBytes = 0
      let aheadBytes = 0
      const promise = (ahead: number) => {
        promisedBytes += ahead - aheadBytes
        aheadBytes = ahead
      }
      const promiseMore = () =>
        promise(Math.min(bytes - writtenBytes, Math.max(LEAST_AHEAD_BYTES, writtenBytes, unwrittenBytes)))
      const end = () => promise(0)
      // Promised before the disk has answered, because others may ask meanwhile.
      promiseMore()
      await need(keepFreeBytes + promisedBytes + bytes - aheadBytes).catch((error: unknown) => {
        end()
        throw error
      })
      return {
        async arrived(some) {
          writtenBytes += unwrittenBytes
          promise(aheadBytes - unwrittenBytes)
          unwrittenBytes = some
          if (some <= aheadBytes) return
          promiseMore()
          await need(keepFreeBytes + promisedBytes)
        },
        end,
      }
    },
  }
}

/**
 * Bytes that must be free to start the database. A new one also needs room for bodies; an existing one can be read and emptied
 * without it. 0 where nothing is reserved.
 */
export function roomToStart(isNew: boolean, keepFreeBytes: number): number {
  if (keepFreeBytes === 0) return 0
  return isNew ? NEW_DATABASE_BYTES + Math.max(START_BYTES, keepFreeBytes) : START_BYTES
}

/** Rejects with DiskFullError when the disk of `folder` has fewer bytes free than `needed`. */
export async function checkRoomToStart(folder: string, needed: number): Promise<void> {
  await makeFolder(folder)
  const free = await freeBytes(folder)
  if (free >= needed) return
  throw new DiskFullError(
    `The disk of ${folder} has ${inMib(free)} free, and the database needs ${inMib(needed)} to start. ` +
      'Make room there (df, df -i) and start again: nothing is lost. A small disk can be told to ' +
      'keep less free: by keepFreeBytes, or by --keep-free of serve.',
  )
}

/** The bytes left for us on a folder's disk. 0 when hardly an inode is left, since bytes are of no use then. */
export async function freeBytes(folder: string): Promise<number> {
  const { blocks, bavail, bsize, files, ffree } = await statfs(folder)
  // Some disks do not count their files.
  if (files > 0 && ffree < KEPT_FILES) return 0
  // Some network disks do not report their size.
  return blocks === 0 ? Infinity : bavail * bsize
}

function inMib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`
}
