// Who a process is, so that it can be told later whether that very process is still there: a process id alone is given
// to another one sooner or later, and a host name alone belongs to more than one machine of a shared home folder.
//
// Linux: the start in ticks since boot, the boot's id, the machine's id, and the space that process ids are counted in
// (a container has its own). macOS: the start from `ps`, the boot's uuid, the hardware's uuid. Windows: the start from
// PowerShell, the machine's GUID from the registry. What the platform does not say makes a dead process look alive or
// far away, which refuses and never endangers.

import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { win32 } from 'node:path'
import { promisify } from 'node:util'

import { errorCode } from './file-problem.ts'

export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** Which machine, beyond its name: 32 hex digits made from an id of the platform, which is not to be passed on itself. */
  readonly machine?: string
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
  if (!isThisMachine(found, here)) return 'elsewhere'
  if (areDifferent(found.boot, here.boot)) return 'gone'
  if (areDifferent(found.pidSpace, here.pidSpace)) return 'elsewhere'
  if (!hasProcess(found.pid)) return 'gone'
  const now = await startOf(found.pid)
  return now === ENDED || areDifferent(found.start, now) ? 'gone' : 'alive'
}

/**
 * Two machines may have one name, and clones of a disk one id as well, so the name must agree, and with it the boot, which
 * no other machine has, or the id. Where neither is known on either side the name is all there is.
 */
export function isThisMachine(found: ProcessIdentity, here: ProcessIdentity): boolean {
  if (found.host !== here.host) return false
  if (found.boot !== undefined && found.boot === here.boot) return true
  if (found.machine !== here.machine) return false
  return here.machine !== undefined || found.boot === here.boot
}

async function identify(): Promise<ProcessIdentity> {
  const asked = [startOf(process.pid), bootOf(), machineOf(), pidSpaceOf()] as const
  const [start, boot, machine, pidSpace] = await Promise.all(asked)
  return {
    host: hostname(),
    pid: process.pid,
    ...(machine === undefined ? {} : { machine }),
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
  if (process.platform === 'win32') return windowsStartOf(pid)
  if (process.platform !== 'linux') return undefined
  const stat = await textOf(`/proc/${pid}/stat`)
  // The program's name is in parentheses and may hold spaces and parentheses itself. After it come the state, field 3,
  // and later the start, field 22.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' || fields?.[0] === 'X' ? ENDED : fields?.[19]
}

/** In steps of 100 ns, as the system keeps it. Asked once a process, and of a holder only where somebody waits for him. */
function windowsStartOf(pid: number): Promise<string | undefined> {
  const script = `(Get-Process -Id ${String(pid)}).StartTime.ToFileTimeUtc()`
  const powershell = inSystemFolder('WindowsPowerShell', 'v1.0', 'powershell.exe')
  return answerOf(powershell, ['-NoProfile', '-NonInteractive', '-Command', script])
}

/** By its whole path: a bare name would be looked for in the current folder first, which may be anybody's. */
function inSystemFolder(...names: readonly string[]): string {
  return win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', ...names)
}

/** Its maker asks that a machine's id is not shown to others as it is: what is kept is a digest of it under our name. */
async function machineOf(): Promise<string | undefined> {
  const id = await platformIdOf()
  return id === undefined ? undefined : createHmac('sha256', id).update('mocap-uplink').digest('hex').slice(0, 32)
}

async function platformIdOf(): Promise<string | undefined> {
  if (process.platform === 'darwin') {
    const answer = await answerOf('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'])
    return /"IOPlatformUUID" = "([^"]+)"/.exec(answer ?? '')?.[1]
  }
  if (process.platform === 'win32') {
    const place = ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid', '/reg:64']
    const answer = await answerOf(inSystemFolder('reg.exe'), place)
    return /MachineGuid\s+REG_SZ\s+(\S+)/.exec(answer ?? '')?.[1]
  }
  // Images of containers have an empty file, or the word `uninitialized`, where a machine has its id.
  const id = (await textOf('/etc/machine-id')) ?? (await textOf('/var/lib/dbus/machine-id'))
  return /^[0-9a-f]{32}$/.test(id ?? '') ? id : undefined
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
