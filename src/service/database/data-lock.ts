// One process at a time on a data folder: the database loses commits when two have it open.
//
// Every process puts a file of its own into the lock folder, named by its id and start, and then looks for others. Of
// two that come at once at least one sees the other, so there are never two holders. No name is ever used by two
// processes, so the file of a dead one can be removed by anybody at any time: taking over needs no second lock.

import { mkdir, open, readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** The lock on a data folder. `release` is idempotent. */
export interface DataLock {
  release(): Promise<void>
}

/** Another living process holds the folder. */
export class DataFolderInUseError extends Error {
  readonly code = 'ERR_SERVICE_DATA_IN_USE'
  readonly pid: number

  constructor(folder: string, pid: number) {
    super(`The data folder ${folder} is in use by process ${pid}. Stop that service or choose another folder.`)
    this.name = 'DataFolderInUseError'
    this.pid = pid
  }
}

const TRIES = 6

/** Takes the lock on `folder`, or rejects with DataFolderInUseError after about half a second. */
export async function lockDataFolder(folder: string): Promise<DataLock> {
  const locks = join(folder, 'lock')
  await mkdir(locks, { recursive: true, mode: 0o700 })
  const own = `${process.pid}-${(await startOf(process.pid)) ?? 'unknown'}`
  const path = join(locks, own)
  for (let attempt = 1; ; attempt++) {
    await createOwn(path, folder)
    const holder = await otherHolder(locks, own)
    if (holder === undefined) return { release: () => rm(path, { force: true }) }
    await rm(path, { force: true })
    if (attempt === TRIES) throw new DataFolderInUseError(folder, holder)
    // Two that started together have both stepped back: an uneven wait lets one of them in.
    await wait(20 + Math.random() * 160)
  }
}

async function createOwn(path: string, folder: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    if (isCode(error, 'EEXIST')) throw new DataFolderInUseError(folder, process.pid)
    throw error
  }
}

async function otherHolder(locks: string, own: string): Promise<number | undefined> {
  for (const name of await readdir(locks)) {
    if (name === own) continue
    const parsed = /^(\d+)-(.+)$/.exec(name)
    const pid = Number(parsed?.[1])
    if (parsed?.[2] !== undefined && (await isAlive(pid, parsed[2]))) return pid
    await rm(join(locks, name), { force: true, recursive: true })
  }
  return undefined
}

async function isAlive(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (isCode(error, 'ESRCH')) return false
  }
  // The id lives, but may have been given to another process since. Where the start cannot be read, it counts as alive.
  const found = await startOf(pid)
  return found !== ENDED && (found === undefined || start === 'unknown' || found === start)
}

/** A killed process whose parent has not asked after it: it keeps its id, in some containers for ever. */
const ENDED = 'ended'

/** When a process started, in the kernel's ticks under the boot's id; undefined off Linux or when it is gone. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim().slice(0, 8)
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in parentheses and may hold spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return ENDED
    const ticks = fields[19]
    return ticks === undefined ? undefined : `${boot}-${ticks}`
  } catch {
    return undefined
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
