// Lets one process at a time use a data folder: the database loses commits when two have it open.
//
// Every process puts its own file into the lock folder, named by its id and start time, and then looks for others. Of two that come
// at the same time at least one sees the other, so there are never two holders. No two processes ever use the same name, so anybody
// may remove a dead process's file at any time, and taking over needs no second lock. Containers number their processes separately,
// so another container's process id says nothing here; that process's beacon tells whether it lives.

import { open, readFile, readdir, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { isCode } from '../error-code.ts'
import { makeFolder } from '../make-folder.ts'
import { isLit, lightBeacon } from './lock-beacon.ts'

/** The lock on a data folder. `release` is idempotent. */
export interface DataLock {
  release(): Promise<void>
}

/** Another living process holds the folder. */
class DataFolderInUseError extends Error {
  readonly code = 'ERR_SERVICE_DATA_IN_USE'
  readonly pid: number

  /** `doubted`: its file, if nobody knows when it started, so that its id may be another program's by now. */
  constructor(folder: string, pid: number, doubted?: string) {
    const otherwise =
      doubted === undefined
        ? ''
        : ` If that process is another program, such as after a restart of this machine, delete ${doubted} and start again.`
    super(
      `The data folder ${folder} is in use by process ${pid}. Stop that service or choose another folder.${otherwise}`,
    )
    this.name = 'DataFolderInUseError'
    this.pid = pid
  }
}

const TRIES = 6

/** Takes the lock on `folder`, or rejects with DataFolderInUseError after about half a second. */
export async function lockDataFolder(folder: string): Promise<DataLock> {
  const places = { locks: join(folder, 'lock'), beacons: join(folder, 'beacons') }
  for (const place of Object.values(places)) await makeFolder(place)
  const own = await nameOf(process.pid)
  const path = join(places.locks, own.name)
  const beacon = own.space === undefined ? undefined : await lightBeacon(places.beacons, own.name)
  const release = async () => {
    await rm(path, { force: true })
    await beacon?.end()
  }
  for (let attempt = 1; ; attempt++) {
    await createOwn(path, folder)
    const holder = await otherHolder(places, own)
    if (holder === undefined) return { release }
    await rm(path, { force: true })
    if (attempt === TRIES) {
      await release()
      throw new DataFolderInUseError(
        folder,
        holder.pid,
        holder.start === undefined ? join(places.locks, holder.name) : undefined,
      )
    }
    // Two processes that started together have both stepped back. A random wait lets one of them in.
    await wait(20 + Math.random() * 160)
  }
}

interface Places {
  readonly locks: string
  readonly beacons: string
}

interface Process {
  readonly name: string
  readonly pid: number
  /** The boot, and the start time within it; undefined where the system does not say. */
  readonly start: string | undefined
  /** The process id's namespace; undefined where the system does not say, or in a name from an older version. */
  readonly space: string | undefined
}

async function nameOf(pid: number): Promise<Process> {
  const start = await startOf(pid)
  const space = /\d+/.exec(await readlink('/proc/self/ns/pid').catch(() => ''))?.[0]
  return { name: [pid, start ?? 'unknown', ...(space === undefined ? [] : [space])].join('-'), pid, start, space }
}

function processOf(name: string): Process | undefined {
  const [, pid, start, space] = /^(\d+)-(unknown|[0-9a-f]+-\d+)(?:-(\d+))?$/.exec(name) ?? []
  return pid === undefined
    ? undefined
    : { name, pid: Number(pid), start: start === 'unknown' ? undefined : start, space }
}

async function createOwn(path: string, folder: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    if (isCode(error, 'EEXIST')) throw new DataFolderInUseError(folder, process.pid)
    throw error
  }
}

async function otherHolder({ locks, beacons }: Places, own: Process): Promise<Process | undefined> {
  for (const name of await readdir(locks)) {
    const other = processOf(name)
    // Nobody's lock is somebody's file.
    if (other === undefined || name === own.name) continue
    const isHolder = isElsewhere(other, own) ? (await isLit(beacons, name)) !== false : await isAlive(other)
    if (isHolder) return other
    await rm(join(locks, name), { force: true })
    await rm(join(beacons, name), { force: true })
  }
  return undefined
}

/** In another container of this machine. A process of another boot is dead, whatever its namespace was. */
function isElsewhere(other: Process, own: Process): boolean {
  const isThisBoot = own.start !== undefined && other.start?.split('-')[0] === own.start.split('-')[0]
  return isThisBoot && other.space !== undefined && other.space !== own.space
}

async function isAlive({ pid, start }: Process): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (isCode(error, 'ESRCH')) return false
  }
  // The id is in use, perhaps by another process by now. Where the start time cannot be read, the process counts as alive.
  const found = await startOf(pid)
  return found !== ENDED && (found === undefined || start === undefined || found === start)
}

/** A killed process that its parent has not reaped. It keeps its id, in some containers forever. */
const ENDED = 'ended'

/** When a process started: the kernel's ticks and the boot's id. Undefined off Linux, or when the process is gone. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim().slice(0, 8)
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The program's name is in parentheses and may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return ENDED
    const ticks = fields[19]
    return ticks === undefined ? undefined : `${boot}-${ticks}`
  } catch {
    return undefined
  }
}
