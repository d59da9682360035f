// Who a process is, so that it can be told later whether that very process is still there: a process id alone is given
// to another one sooner or later.
//
// Linux: the start in ticks since boot, the boot's id, and the space that process ids are counted in (a container has
// its own). macOS: the start from `ps`, the boot's uuid from `sysctl`. Windows has no quick way to ask, so only the
// process id counts: an id that was given on makes a dead process look alive, which refuses and never endangers.

import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { promisify } from 'node:util'

import { errorCode } from './file-problem.ts'

export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** When it started, in the platform's own form. */
  readonly start?: string
  /** Which boot of the host it runs under. */
  readonly boot?: string
  /** Within what the process id counts. */
  readonly pidSpace?: string
}

let own: Promise<ProcessIdentity> | undefined

/** Of this process; asked of the system once. */
export function ownIdentity(): Promise<ProcessIdentity> {
  return (own ??= identify())
}

/** `elsewhere`: it cannot be seen from here, so nothing can be said of it. */
export async function whereIs(found: ProcessIdentity): Promise<'gone' | 'alive' | 'elsewhere'> {
  const here = await ownIdentity()
  if (found.host !== here.host) return 'elsewhere'
  if (areDifferent(found.boot, here.boot)) return 'gone'
  if (areDifferent(found.pidSpace, here.pidSpace)) return 'elsewhere'
  if (!hasProcess(found.pid)) return 'gone'
  const now = await startOf(found.pid)
  return now === ENDED || areDifferent(found.start, now) ? 'gone' : 'alive'
}

async function identify(): Promise<ProcessIdentity> {
  const [start, boot, pidSpace] = await Promise.all([startOf(process.pid), bootOf(), pidSpaceOf()])
  return {
    host: hostname(),
    pid: process.pid,
    ...(start === undefined ? {} : { start }),
    ...(boot === undefined ? {} : { boot }),
    ...(pidSpace === undefined ? {} : { pidSpace }),
  }
}

/** What is not known is not different. */
function areDifferent(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is there and belongs to another user.
    return errorCode(error) !== 'ESRCH'
  }
}

/** A process that has ended and whose parent has not asked after it: it has an id and does nothing any more. */
const ENDED = 'ended'

async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'darwin') return answerOf('ps', ['-o', 'lstart=', '-p', String(pid)])
  if (process.platform !== 'linux') return undefined
  const stat = await textOf(`/proc/${pid}/stat`)
  // The program's name is in parentheses and may hold spaces and parentheses itself. After it come the state, field 3,
  // and later the start, field 22.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' || fields?.[0] === 'X' ? ENDED : fields?.[19]
}

function bootOf(): Promise<string | undefined> {
  if (process.platform === 'darwin') return answerOf('sysctl', ['-n', 'kern.bootsessionuuid'])
  return process.platform === 'linux' ? textOf('/proc/sys/kernel/random/boot_id') : Promise.resolve(undefined)
}

async function pidSpaceOf(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  return readlink('/proc/self/ns/pid').catch(() => undefined)
}

async function textOf(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.trim() || undefined
}

/** The same words whoever asks: lstart is written in the language and the time zone of the environment. */
async function answerOf(command: string, args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  const answer = await promisify(execFile)(command, [...args], { env, timeout: 5_000 }).catch(() => undefined)
  return answer?.stdout.trim() || undefined
}
