// One process at a time on a data folder: the database loses commits when two have it open.
//
// Every process puts a file of its own into the lock folder, named by its id and start, and then looks for others. Of
// two that come at once at least one sees the other, so there are never two holders. No name is ever used by two
// processes, so the file of a dead one can be removed by anybody at any time: taking over needs no second lock. Where
// processes are counted anew, in a container, an id says nothing: of those of others their beacon tells.

import { mkdir, open, readFile, readdir, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { isCode } from '../error-code.ts'
import { isLit, lightBeacon } from './lock-beacon.ts'

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
  const places = { locks: join(folder, 'lock'), beacons: join(folder, 'beacons') }
  for (const place of Object.values(places)) await mkdir(place, { recursive: true, mode: 0o700 })
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
      throw new DataFolderInUseError(folder, holder)
    }
    // Two that started together have both stepped back: an uneven wait lets one of them in.
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
  /** Which boot, and when in it; undefined where the system does not say. */
  readonly start: string | undefined
  /** Within what process ids count; undefined where it does not say, or in the name of an older version. */
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

async function otherHolder({ locks, beacons }: Places, own: Process): Promise<number | undefined> {
  for (const name of await readdir(locks)) {
    if (name === own.name) continue
    const other = processOf(name)
    const isHolder =
      other !== undefined && (isElsewhere(other, own) ? (await isLit(beacons, name)) !== false : await isAlive(other))
    if (isHolder) return other.pid
    await rm(join(locks, name), { force: true, recursive: true })
    await rm(join(beacons, name), { force: true })
  }
  return undefined
}

/** In another container of this machine. One of another boot is none any more, whatever its space was. */
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
  // The id lives, but may have been given to another process since. Where the start cannot be read, it counts as alive.
  const found = await startOf(pid)
  return found !== ENDED && (found === undefined || start === undefined || found === start)
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
