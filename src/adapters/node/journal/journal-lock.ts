// The lock on one session's folder: two processes never drive one session.
//
// The lock is a folder `lock` that holds one file. The file says who the holder is, and its name is a number that no
// other holder ever has. The folder is completed aside and renamed into place. A rename onto a folder that is not empty
// fails, so of many takers exactly one wins. The file of a dead holder is deleted by its own name, so a slow taker can
// never delete the lock of the next one. A lock is stale only if its process is gone, or its worker thread, never
// because it is old.

import { randomUUID } from 'node:crypto'
import { rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

import { UploadError } from '../../../core/errors.ts'
import { errorCode } from '../file-problem.ts'
import { isHeld, makeFolders, unlessHeld } from './durable-file.ts'
import { explained } from './journal-problem.ts'
import { namesIn, openFile, textIn } from './patient-files.ts'
import { ownIdentity, whereIs, type ProcessIdentity } from './process-identity.ts'

export interface JournalLock {
  /** Locks the folder once more if the lock was removed. Rejects as `lockSession` does. */
  renew(): Promise<void>
  /** Gives the lock back, and removes the session's folder if it is empty. Idempotent. Never rejects. */
  release(): Promise<void>
}

/** Takers that meet in the same moment go round a few times at most. In each round one of them wins. */
const MAX_ROUNDS = 100

/**
 * Locks the folder of the session `key`, making it (0700) if needed. Rejects with ERR_UPLOAD_JOURNAL if a living
 * process holds it, this one included; if nothing can be said of its holder, because that is on another machine, even
 * one of the same name, or cannot be read; and if the folder cannot be used.
 */
export async function lockSession(folder: string, key: string): Promise<JournalLock> {
  let path = await take(folder, key)
  return {
    async renew() {
      if ((await holderIn(path)).where === 'absent') path = await take(folder, key)
    },
    release: () => release(folder, path),
  }
}

/** The file that holds the lock, once it is ours. */
function take(folder: string, key: string): Promise<string> {
  return explained(folder, 'locked', async () => {
    for (let round = 1; ; round++) {
      const path = await unlessHeld(() => tryToLock(folder, key))
      if (path !== undefined) {
        // What cannot be removed is in nobody's way, and the lock is ours by now.
        await sweep(folder).catch(() => undefined)
        return path
      }
      if (round === MAX_ROUNDS) throw refused(key, `its lock "${join(folder, 'lock')}" changes all the time`)
    }
  })
}

/**
 * Whether a living process, this one included, may be driving the session in this folder. Takes and changes nothing.
 */
export async function isLocked(folder: string): Promise<boolean> {
  const lock = join(folder, 'lock')
  for (const name of await namesIn(lock).catch(() => [])) {
    const { where } = await holderIn(join(lock, name))
    if (where !== 'absent' && where !== 'gone') return true
  }
  return false
}

/** The file that holds the lock; undefined if there was a dead one's, or the folder went away meanwhile. */
async function tryToLock(folder: string, key: string): Promise<string | undefined> {
  const nonce = randomUUID()
  const aside = join(folder, `lock-${nonce}`)
  try {
    await makeFolders(aside)
    await writeOwner(join(aside, nonce), await ownIdentity())
    await rename(aside, join(folder, 'lock'))
    return join(folder, 'lock', nonce)
  } catch (error) {
    // Held as well, it is in nobody's way.
    await rm(aside, { recursive: true, force: true }).catch(() => undefined)
    const isLockThere = ['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')
    // Windows says the same of a lock that is there as of what somebody holds.
    if (!isLockThere && !(process.platform === 'win32' && isHeld(error))) throw error
    await clearWay(folder, key)
    if (isLockThere) return undefined
    throw error
  }
}

/** On the disk before it counts: after a power cut, an empty file could never tell that its holder is gone. */
async function writeOwner(path: string, owner: ProcessIdentity): Promise<void> {
  const handle = await openFile(path, 'wx', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(owner)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes the lock of a process or thread that is gone. Throws if it may still be there. */
async function clearWay(folder: string, key: string): Promise<void> {
  const lock = join(folder, 'lock')
  for (const name of await namesIn(lock)) {
    const path = join(lock, name)
    const holder = await holderIn(path)
    if (holder.where === 'absent') continue
    if (holder.where !== 'gone') throw heldBy(key, lock, holder)
    await rm(path, { force: true })
  }
  await removeIfEmpty(lock)
}

function heldBy(key: string, lock: string, { where, owner }: Holder): UploadError {
  const unlock = `delete the folder "${lock}" and try again`
  if (owner === undefined) {
    return refused(key, `its lock "${lock}" cannot be read. If no other process is working on it, ${unlock}`, { lock })
  }
  const { host, pid } = owner
  const details = { lock, host, pid }
  if (where === 'elsewhere') {
    const holder = `process ${pid} on the host "${host}" holds its lock "${lock}"`
    return refused(key, `${holder}, which cannot be seen from here. If that process has ended, ${unlock}`, details)
  }
  if (pid === process.pid) return refused(key, 'it is open in this process already. Close it there first', details)
  return refused(
    key,
    `process ${pid} is working on it (lock "${lock}"). Wait until that process has ended, or end it`,
    details,
  )
}

function refused(key: string, why: string, details: Readonly<Record<string, unknown>> = {}): UploadError {
  return new UploadError('ERR_UPLOAD_JOURNAL', `The session "${key}" cannot be opened: ${why}.`, {
    details: { key, ...details },
  })
}

async function release(folder: string, path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined)
  await removeIfEmpty(join(folder, 'lock')).catch(() => undefined)
  await removeIfEmpty(folder).catch(() => undefined)
}

/** Removes what processes left that died while making a lock. What living ones make is still needed. */
async function sweep(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (!name.startsWith('lock-')) continue
    const { where } = await holderIn(join(folder, name, name.slice('lock-'.length)))
    if (where === 'gone') await rm(join(folder, name), { recursive: true, force: true })
  }
}

/**
 * What the file that holds a lock says. `absent`: it went away meanwhile. Without `owner` it is not known whose it is.
 */
interface Holder {
  readonly where: 'absent' | 'unreadable' | Awaited<ReturnType<typeof whereIs>>
  readonly owner?: ProcessIdentity
}

async function holderIn(path: string): Promise<Holder> {
  try {
    const owner: unknown = JSON.parse(await textIn(path))
    return isIdentity(owner) ? { where: await whereIs(owner), owner } : { where: 'unreadable' }
  } catch (error) {
    return { where: errorCode(error) === 'ENOENT' ? 'absent' : 'unreadable' }
  }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null || !('host' in value) || !('pid' in value)) return false
  // To the system, 0 and negative numbers mean groups of processes.
  if (typeof value.host !== 'string' || !Number.isSafeInteger(value.pid) || Number(value.pid) <= 0) return false
  // A field of another type than ours must not pass for one that differs, which would make its holder count as gone.
  const known: Partial<Record<string, unknown>> = { ...value }
  return ['machine', 'start', 'boot', 'pidSpace', 'thread'].every((name) =>
    ['string', 'undefined'].includes(typeof known[name]),
  )
}

async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) throw error
  })
}
