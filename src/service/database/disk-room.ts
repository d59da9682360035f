// Room on the disk of the data folder: what would fill it is refused while there is still room for the database.
//
// The embedded database must never meet a full disk. Measured with PGlite 0.5: where its log cannot grow it falls into a
// loop that blocks the whole process, no signal and no freed space ends it, and on a full disk it does not start.

import { mkdir, statfs } from 'node:fs/promises'

const MIB = 1024 ** 2

/** Two segments of the database's log. */
const START_BYTES = 32 * MIB
/** What a new database takes. */
const NEW_DATABASE_BYTES = 48 * MIB
/** Files that the database may still want to make. Once it could not, it took no record before the next start. */
const KEPT_FILES = 256

/** The disk has no room for what was to be written; nothing was done. */
export class DiskFullError extends Error {
  readonly code = 'ERR_SERVICE_DATA_FULL'
}

/** A body on its way to the disk. */
export interface ExpectedBody {
  arrived(bytes: number): void
  /** Whether it came whole or not. */
  end(): void
}

/** Each rejects with DiskFullError where there is no room. */
export interface DiskRoom {
  /** Room for a few rows: half of what is kept free. */
  forRecord(): Promise<void>
  /** Room for a body beside all others that are on their way, and beside what is kept free. */
  forBody(bytes: number): Promise<ExpectedBody>
}

/** Room on a disk with so many bytes `free`, of which `keepFreeBytes` are left to the database; 0 looks at nothing. */
export function diskRoom(free: () => Promise<number>, keepFreeBytes: number): DiskRoom {
  let expectedBytes = 0
  const need = async (bytes: number) => {
    if (keepFreeBytes > 0 && (await free()) < bytes) {
      throw new DiskFullError(`The disk of the data folder has less than ${inMib(bytes)} free.`)
    }
  }
  return {
    forRecord: () => need(keepFreeBytes / 2),
    async forBody(bytes) {
      let missing = bytes
      // Before the disk has answered: others may ask meanwhile.
      expectedBytes += missing
      const take = (some: number) => {
        missing -= some
        expectedBytes -= some
      }
      const end = () => take(missing)
      await need(keepFreeBytes + expectedBytes).catch((error: unknown) => {
        end()
        throw error
      })
      return { arrived: (some) => take(Math.min(some, missing)), end }
    },
  }
}

/**
 * Bytes that must be free at the start of a database: beside a new one there must be room for bodies too, and one that is
 * there can be read and emptied without. 0 where nothing is to be kept free.
 */
export function roomToStart(isNew: boolean, keepFreeBytes: number): number {
  if (keepFreeBytes === 0) return 0
  return isNew ? NEW_DATABASE_BYTES + Math.max(START_BYTES, keepFreeBytes) : START_BYTES
}

/** Rejects with DiskFullError where `folder` has not so many bytes free. */
export async function checkRoomToStart(folder: string, needed: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const free = await freeBytes(folder)
  if (free >= needed) return
  throw new DiskFullError(
    `The disk of ${folder} has ${inMib(free)} free, and the database needs ${inMib(needed)} to start. ` +
      'Make room there (df, df -i) and start again: nothing is lost. A small disk can be told to keep less free.',
  )
}

/** What the disk of a folder has left for us; 0 where it has hardly an inode left, since bytes are no use then. */
export async function freeBytes(folder: string): Promise<number> {
  const { blocks, bavail, bsize, files, ffree } = await statfs(folder)
  // Some disks do not count their files.
  if (files > 0 && ffree < KEPT_FILES) return 0
  // Some network disks do not say.
  return blocks === 0 ? Infinity : bavail * bsize
}

function inMib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`
}
