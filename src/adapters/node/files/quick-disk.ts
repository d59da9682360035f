// Says whether the disk may be asked at once. Handing one small file operation to a thread and back costs some ten times
// what the operation takes when the system has the answer in memory, so there it is better done on the spot. But an
// operation done on the spot stops everything else in the process until it ends: this is allowed only on file systems
// that are known to be of this machine, and only while they answer quickly.

import { statfs, stat } from 'node:fs/promises'

export interface QuickDisk {
  /** Whether what lies in a folder may be asked at once. The first question about a folder is answered no. */
  mayAskNow(folder: string): boolean
  /** Does `work` at once and takes note of its time. `bytes`: how much it reads. */
  askNow<T>(work: () => T, bytes?: number): T
}

/**
 * Local file systems as Linux numbers them (statfs(2), linux/magic.h): ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs, tmpfs, ramfs
 * and overlayfs. A network drive or a drive in user space may not answer for minutes; other platforms do not say what is theirs.
 */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x01021994, 0x858458f6, 0x794c7630],
])
const PLATFORM_SAYS_TYPE = process.platform === 'linux'

/** What an operation may take, ms: itself, and for each byte it reads (1 GiB/s, far below a page cache). */
const ALLOWED_MS = 0.2
const ALLOWED_MS_PER_BYTE = 1_000 / 2 ** 30
/** So many ms beyond what was allowed, less what was saved meanwhile, and the disk is left to the threads for a while. */
const PATIENCE_MS = 20
const REST_MS = 1_000
/** What takes so long is left to the threads, whatever it was that took the time. */
const HUNG_MS = 50
/** Folders remembered; beyond that all are forgotten, and asked for anew. */
const MAX_FOLDERS = 10_000

/**
 * For tests: `now`, a monotonic time in ms; `typeOf`, the type of the file system that holds a folder; `countDiskReads`, how
 * often this process had something read from a disk so far.
 */
export function createQuickDisk(
  now: () => number = () => performance.now(),
  typeOf: ((folder: string) => Promise<number>) | undefined = PLATFORM_SAYS_TYPE ? typeOfFolder : undefined,
  countDiskReads: () => number = () => process.resourceUsage().fsRead,
): QuickDisk {
  const folders = new Map<string, boolean>()
  let overdrawnMs = 0
  /** Until then it is left to the threads. */
  let restsUntilMs: number | undefined
  let knownReads: number | undefined

  /** Since this was asked last. What was late without one waited for the processor: a thread would wait as long. */
  const hasReadFromDisk = (): boolean => {
    const before = knownReads
    knownReads = countDiskReads()
    return knownReads !== before
  }
  const learn = async (folder: string): Promise<void> => {
    if (folders.size >= MAX_FOLDERS) folders.clear()
    folders.set(folder, false)
    // A folder that cannot be looked at is told of by whoever wants its files.
    const type = await typeOf?.(folder).catch(() => undefined)
    folders.set(folder, type !== undefined && LOCAL_TYPES.has(type))
  }

  return {
    mayAskNow(folder) {
      const isLocal = folders.get(folder)
      if (isLocal === undefined) void learn(folder)
      if (restsUntilMs !== undefined && now() >= restsUntilMs) restsUntilMs = undefined
      return isLocal === true && restsUntilMs === undefined
    },
    askNow(work, bytes = 0) {
      knownReads ??= countDiskReads()
      const beganAtMs = now()
      try {
        return work()
      } finally {
        const endedAtMs = now()
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

/** The type of a file system, once per device: folders are many, devices few. */
const types = new Map<number, number>()
async function typeOfFolder(folder: string): Promise<number> {
  const { dev } = await stat(folder)
  const known = types.get(dev)
  if (known !== undefined) return known
  const { type } = await statfs(folder)
  types.set(dev, type)
  return type
}
