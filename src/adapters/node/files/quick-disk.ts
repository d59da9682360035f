// Says whether the disk may be asked at once, on the calling thread. If the system has the answer in memory, handing a
// small file operation to a thread and back costs some ten times what the operation takes. But an operation on the
// calling thread stops everything else in the process until it ends. So this is allowed only on file systems that are
// known to belong to this machine, only while they answer quickly, and only for a few milliseconds at a time.

import { statfs, stat } from 'node:fs/promises'
import { diskThreads } from './disk-threads.ts'
import { driveOf } from './drives.ts'

export interface QuickDisk {
  /** Whether what lies in a folder may be asked at once. The first answer about a folder is no. */
  mayAskNow(folder: string): boolean
  /** Does `work` at once and takes note of its time. `bytes`: how much it reads or writes. */
  askNow<T>(work: () => T, bytes?: number): T
}

/**
 * Local file systems by Linux's numbers (statfs(2), linux/magic.h): ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs,
 * tmpfs, ramfs and overlayfs. A network drive, or a drive in user space, may not answer for minutes. Other platforms do
 * not tell which file systems are local.
 */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x01021994, 0x858458f6, 0x794c7630],
])
const PLATFORM_SAYS_TYPE = process.platform === 'linux'

/** What an operation may take, ms: a fixed time, and one for each byte it reads or writes (1 GiB/s, far below a page cache). */
const ALLOWED_MS = 0.2
const ALLOWED_MS_PER_BYTE = 1_000 / 2 ** 30
/**
 * Once operations have overrun what they may take by this much in all, less what others saved, and it was the disk that
 * took the time, it is left to the threads for a while, ms.
 */
const PATIENCE_MS = 20
const REST_MS = 1_000
/** After so much in one turn of the event loop, the next ones wait for a thread, so that others have their turn, ms. */
const TURN_MS = 10
/** An operation this late sends the disk to the threads, whatever it was that took the time, ms. */
const HUNG_MS = 50
/** Folders that are remembered. Beyond that all are forgotten, and asked for anew. */
const MAX_FOLDERS = 10_000

/**
 * Makes the judge. The arguments are for tests: `now`, a monotonic time in ms; `typeOf`, the type of the file system
 * that holds a folder; `countDiskReads`, how often this process had something read from a disk so far; `atNextTurn`,
 * which calls back when the event loop has turned.
 */
export function createQuickDisk(
  now: () => number = () => performance.now(),
  typeOf: ((folder: string) => Promise<number>) | undefined = PLATFORM_SAYS_TYPE ? typeOnThread : undefined,
  countDiskReads: () => number = () => process.resourceUsage().fsRead,
  atNextTurn: (act: () => void) => unknown = setImmediate,
): QuickDisk {
  const folders = new Map<string, boolean>()
  /** What the operations of this turn took; undefined before the first one. */
  let turnMs: number | undefined
  let overdrawnMs = 0
  /** Until then the disk is left to the threads. */
  let restsUntilMs: number | undefined
  let knownReads: number | undefined

  /**
   * Whether a disk was read since this was last asked. If not, what was late waited for the processor, and a thread
   * would wait as long.
   */
  const hasReadFromDisk = (): boolean => {
    const before = knownReads
    knownReads = countDiskReads()
    return knownReads !== before
  }
  const learn = async (folder: string): Promise<void> => {
    if (folders.size >= MAX_FOLDERS) folders.clear()
    folders.set(folder, false)
    // A folder that cannot be looked at is reported by whoever wants its files.
    const type = await typeOf?.(folder).catch(() => undefined)
    folders.set(folder, type !== undefined && LOCAL_TYPES.has(type))
  }

  return {
    mayAskNow(folder) {
      const isLocal = folders.get(folder)
      if (isLocal === undefined) void learn(folder)
      if (restsUntilMs !== undefined && now() >= restsUntilMs) restsUntilMs = undefined
      return isLocal === true && restsUntilMs === undefined && (turnMs ?? 0) < TURN_MS
    },
    askNow(work, bytes = 0) {
      knownReads ??= countDiskReads()
      const beganAtMs = now()
      try {
        return work()
      } finally {
        const endedAtMs = now()
        if (turnMs === undefined) atNextTurn(() => (turnMs = undefined))
        turnMs = (turnMs ?? 0) + endedAtMs - beganAtMs
        const lateMs = endedAtMs - beganAtMs - ALLOWED_MS - bytes * ALLOWED_MS_PER_BYTE
        overdrawnMs = Math.max(0, overdrawnMs + lateMs)
        if (overdrawnMs > PATIENCE_MS) {
          overdrawnMs = 0
          if (lateMs > HUNG_MS || hasReadFromDisk()) restsUntilMs = endedAtMs + REST_MS
        }
      }
    },
  }
}

const typeOnThread = (folder: string): Promise<number> => diskThreads.run(driveOf(folder), () => typeOfFolder(folder))

/** The type of a file system, asked once per device: folders are many, devices few. */
const types = new Map<number, number>()
async function typeOfFolder(folder: string): Promise<number> {
  const { dev } = await stat(folder)
  const known = types.get(dev)
  if (known !== undefined) return known
  const { type } = await statfs(folder)
  types.set(dev, type)
  return type
}
