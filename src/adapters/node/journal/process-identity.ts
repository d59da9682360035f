// Who a process is, so that one can tell later whether that very process is still there. A process id alone is sooner
// or later given to another process, and a host name alone may belong to several machines that share a home folder.

import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import { isMainThread } from 'node:worker_threads'

import { errorCode } from '../file-problem.ts'
import { ENDED, platformFacts, systemReads } from '../platform-facts.ts'

export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /**
   * Which machine, beyond its name: 32 hex digits, derived from an id of the platform that must not itself be passed
   * on.
   */
  readonly machine?: string
  /** When it started, in the platform's own form. */
  readonly start?: string
  /** Which boot of the host it runs under. */
  readonly boot?: string
  /** The space in which the process id counts. */
  readonly pidSpace?: string
  /**
   * Which worker thread of the process, and when that started, as `number-start`: it may end long before its process.
   * Absent for the main thread, and where the platform does not show threads.
   */
  readonly thread?: string
}

const facts = platformFacts(systemReads)
let own: Promise<ProcessIdentity> | undefined

/** The identity of this process, and of this thread in it. The system is asked once. */
export function ownIdentity(): Promise<ProcessIdentity> {
  return (own ??= identify())
}

/** `elsewhere`: the process cannot be seen from here, so nothing can be said of it. */
export async function whereIs(found: ProcessIdentity): Promise<'gone' | 'alive' | 'elsewhere'> {
  const here = await ownIdentity()
  if (!isThisMachine(found, here)) return 'elsewhere'
  if (areDifferent(found.boot, here.boot)) return 'gone'
  if (areDifferent(found.pidSpace, here.pidSpace)) return 'elsewhere'
  if (!hasProcess(found.pid)) return 'gone'
  const now = await facts.startOf(found.pid)
  if (now === ENDED || areDifferent(found.start, now)) return 'gone'
  // Of a process of which nothing can be read, nothing is known of its threads.
  if (now === undefined || found.thread === undefined) return 'alive'
  const [thread = '', begun] = found.thread.split('-')
  const current = await facts.startOfThread(found.pid, thread)
  return current === ENDED || areDifferent(begun, current) ? 'gone' : 'alive'
}

/**
 * Two of name, boot and machine id must agree. Each may be another's as well: machines may share a name, clones of a disk an id, and
 * clones of a running machine its boot. And each may change: a laptop may get another name with each network that it joins. If neither
 * boot nor id is known on either side, the name alone decides.
 */
export function isThisMachine(found: ProcessIdentity, here: ProcessIdentity): boolean {
  const names = ['host', 'boot', 'machine'] as const
  const agreeing = names.filter((name) => found[name] !== undefined && found[name] === here[name])
  const isOnlyNamed = [found, here].every(({ boot, machine }) => boot === undefined && machine === undefined)
  return agreeing.length > (isOnlyNamed ? 0 : 1)
}

/** Undefined for the main thread, and where nothing is known of this one. */
async function ownThread(): Promise<string | undefined> {
  const thread = isMainThread ? undefined : facts.ownThread()
  const start = thread && (await facts.startOfThread(process.pid, thread))
  return start && `${thread}-${start}`
}

async function identify(): Promise<ProcessIdentity> {
  const asked = [facts.startOf(process.pid), facts.boot(), machineOf(), facts.pidSpace(), ownThread()] as const
  const [start, boot, machine, pidSpace, thread] = await Promise.all(asked)
  return {
    host: hostname(),
    pid: process.pid,
    ...(machine === undefined ? {} : { machine }),
    ...(start === undefined ? {} : { start }),
    ...(boot === undefined ? {} : { boot }),
    ...(pidSpace === undefined ? {} : { pidSpace }),
    ...(thread === undefined ? {} : { thread }),
  }
}

/** An unknown value does not differ from any other. */
function areDifferent(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return errorCode(error) !== 'ESRCH'
  }
}

/** A digest of the machine's id under our name, because its maker asks that the id itself is not shown to others. */
async function machineOf(): Promise<string | undefined> {
  const id = await facts.machineId()
  return id === undefined ? undefined : createHmac('sha256', id).update('mocap-uplink').digest('hex').slice(0, 32)
}
