// What a platform tells of its processes and of itself, each fact in the platform's own form.
//
// Linux: the start in ticks since boot, also that of a thread, the boot's id, the machine's id, and the namespace in
// which process ids are counted (a container has its own). macOS: the start from `ps`, the boot's UUID, the hardware's UUID. Windows: the
// start from PowerShell, the machine's GUID from the registry. A fact that the platform does not tell makes a dead
// process look alive or far away, so a session is refused but never endangered.

import { readlinkSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { win32 } from 'node:path'
import { promisify } from 'node:util'

import { errorCode } from './file-problem.ts'
import { textIn } from './journal/patient-files.ts'

/** How a platform is asked. What it does not tell is undefined. */
export interface PlatformReads {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
  /** A file's text, trimmed; undefined also where it cannot be read now. */
  textOf(path: string): Promise<string | undefined>
  /** Whether there is evidently no such file. */
  isMissing(path: string): Promise<boolean>
  /** What a link leads to. Read by the thread that asks, because `/proc/thread-self` is another link for each. */
  linkOf(path: string): string | undefined
  /** What a program writes to stdout, trimmed; undefined if it fails. */
  answerOf(program: string, args: readonly string[]): Promise<string | undefined>
}

export interface PlatformFacts {
  /** When a process started. `ENDED` if it has ended and only its id is left. */
  startOf(pid: number): Promise<string | undefined>
  /** When a thread of a process started. `ENDED` if the process, which must be in sight, has no such thread. */
  startOfThread(pid: number, thread: string): Promise<string | undefined>
  /** The thread that asks, in this process. */
  ownThread(): string | undefined
  /** Which boot this is. */
  boot(): Promise<string | undefined>
  /** Not to be shown to others as it is. */
  machineId(): Promise<string | undefined>
  /** The space in which process ids count. */
  pidSpace(): Promise<string | undefined>
}

/**
 * A process that has ended but whose parent has not waited for it (a zombie): it still has an id, and does nothing any
 * more.
 */
export const ENDED = 'ended'

/** The facts of the platform that is asked; none for an unknown platform. */
export function platformFacts(reads: PlatformReads): PlatformFacts {
  const { platform } = reads
  if (platform === 'linux') return linuxFacts(reads)
  if (platform === 'darwin') return macFacts(reads)
  return platform === 'win32' ? windowsFacts(reads) : NO_FACTS
}

/** Asks the platform that we run on. */
export const systemReads: PlatformReads = {
  platform: process.platform,
  env: process.env,
  async textOf(path) {
    // As patiently as the journal: a lock written without these facts could never be known for that of a process that is gone.
    const text = await textIn(path).catch(() => '')
    return text.trim() || undefined
  },
  // Opens nothing: where no file can be opened any more, it still knows.
  isMissing: (path) =>
    access(path).then(
      () => false,
      (error: unknown) => errorCode(error) === 'ENOENT',
    ),
  linkOf(path) {
    try {
      return readlinkSync(path)
    } catch {
      return undefined
    }
  },
  async answerOf(program, args) {
    // The same words whoever asks: the start is written in the language and time zone of the environment.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
    // Loaded only here: on Linux no program is run, and the module takes 2 ms to load.
    const { execFile } = await import('node:child_process')
    const answer = await promisify(execFile)(program, [...args], { env, timeout: 5_000 }).catch(() => undefined)
    return answer?.stdout.trim() || undefined
  },
}

const nothing = (): Promise<undefined> => Promise.resolve(undefined)
const NO_THREADS = { startOfThread: nothing, ownThread: () => undefined }
const NO_FACTS: PlatformFacts = {
  ...NO_THREADS,
  startOf: nothing,
  boot: nothing,
  machineId: nothing,
  pidSpace: nothing,
}

function linuxFacts({ textOf, isMissing, linkOf }: PlatformReads): PlatformFacts {
  const startIn = async (folder: string): Promise<string | undefined> => {
    const stat = await textOf(`${folder}/stat`)
    // The program's name is in parentheses, and may itself contain spaces and parentheses. After it come the state,
    // field 3, and later the start, field 22.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields?.[0] === 'Z' || fields?.[0] === 'X' ? ENDED : fields?.[19]
  }
  return {
    startOf: (pid) => startIn(`/proc/${String(pid)}`),
    async startOfThread(pid, thread) {
      const folder = `/proc/${String(pid)}/task/${thread}`
      return (await startIn(folder)) ?? ((await isMissing(folder)) ? ENDED : undefined)
    },
    ownThread: () => /\/task\/(\d+)$/.exec(linkOf('/proc/thread-self') ?? '')?.[1],
    boot: () => textOf('/proc/sys/kernel/random/boot_id'),
    async machineId() {
      // In images of containers this file is empty, or has the word `uninitialized` where a machine has its id.
      const id = (await textOf('/etc/machine-id')) ?? (await textOf('/var/lib/dbus/machine-id'))
      return /^[0-9a-f]{32}$/.test(id ?? '') ? id : undefined
    },
    pidSpace: () => Promise.resolve(linkOf('/proc/self/ns/pid')),
  }
}

/** By absolute paths: a program that cron starts has a PATH without /usr/sbin, and would pass for another machine's. */
function macFacts({ answerOf }: PlatformReads): PlatformFacts {
  return {
    ...NO_THREADS,
    startOf: (pid) => answerOf('/bin/ps', ['-o', 'lstart=', '-p', String(pid)]),
    boot: () => answerOf('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']),
    async machineId() {
      const answer = await answerOf('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'])
      return /"IOPlatformUUID" = "([^"]+)"/.exec(answer ?? '')?.[1]
    },
    pidSpace: nothing,
  }
}

function windowsFacts({ answerOf, env }: PlatformReads): PlatformFacts {
  // By its absolute path: a bare name would be looked for in the current folder first, which may be anybody's.
  const inSystemFolder = (...names: readonly string[]): string =>
    win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', ...names)
  return {
    ...NO_THREADS,
    /**
     * In steps of 100 ns, as the system keeps it. Asked once for each process, and for a lock's holder only if somebody
     * waits for it.
     */
    startOf(pid) {
      const script = `(Get-Process -Id ${String(pid)}).StartTime.ToFileTimeUtc()`
      const powershell = inSystemFolder('WindowsPowerShell', 'v1.0', 'powershell.exe')
      return answerOf(powershell, ['-NoProfile', '-NonInteractive', '-Command', script])
    },
    boot: nothing,
    async machineId() {
      const place = ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid', '/reg:64']
      const answer = await answerOf(inSystemFolder('reg.exe'), place)
      return /MachineGuid\s+REG_SZ\s+(\S+)/.exec(answer ?? '')?.[1]
    },
    pidSpace: nothing,
  }
}
