// Journal on disk for Node: one folder for each session, locked while it is open, in a folder of the user's own.
//
// group-commit.ts says how safely each record is kept, core/journal/journal-lines.ts what the bytes are, and
// journal-lock.ts who may open a session.

import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { invalid, UploadError } from '../../../core/errors.ts'
import { recordText } from '../../../core/journal/record-text.ts'
import type { Clock, Journal, SessionJournal } from '../../../core/ports.ts'
import { systemClock } from '../../web/system-clock.ts'
import { makeFolder, renameWritten } from './durable-file.ts'
import { errorCode } from '../file-problem.ts'
import { createQuickDisk, type QuickDisk } from '../files/quick-disk.ts'
import { createGroupCommit, isDurable, type GroupCommit } from './group-commit.ts'
import { openJournalFile, readJournalFile, type JournalFile } from './journal-file.ts'
import { lockSession, type JournalLock } from './journal-lock.ts'
import { explained } from './journal-problem.ts'
import { forgetKey, keepKey, listSessions } from './session-listing.ts'
import { folderOfKey } from './session-folder.ts'

export interface DiskJournalOptions {
  /** Where the sessions are. Made (0700) with the first session. `stateFolder()` is the platform's usual place. */
  readonly folder: string
  /** Default: the platform's. */
  readonly clock?: Pick<Clock, 'wallNow' | 'monotonicNow'> | undefined
}

/**
 * Makes a journal whose sessions outlive the process and a power cut. Any string is a key. `open` rejects with
 * ERR_UPLOAD_JOURNAL if the session is open here or elsewhere, and if its journal is damaged or of another version. A
 * torn tail is dropped. `append` rejects with the same code if the disk does not take the records. It may be tried
 * again, unless the disk failed while making them durable. `list` takes no lock, and also names sessions whose journal
 * is unreadable.
 */
export function diskJournal(options: DiskJournalOptions): Journal {
  return diskJournalOn(createQuickDisk(), options)
}

/** The same on a disk whose quickness a test decides. */
export function diskJournalOn(disk: QuickDisk, { folder, clock = systemClock() }: DiskJournalOptions): Journal {
  // An empty path would be the current working folder.
  if (typeof folder !== 'string' || folder === '') invalid('diskJournal: folder is empty or no string. Give a path.')
  const root = resolve(folder)

  return {
    async open(key) {
      const place = join(root, folderOfKey(key))
      const makeRoot = () => explained(root, 'made', () => makeFolder(root))
      await makeRoot()
      const lock = await lockSession(place, key)
      const keepOwnKey = () => explained(place, 'written', () => keepKey(place, key))
      const claimFolder = async () => {
        await makeRoot()
        await lock.renew()
        await keepOwnKey()
      }
      try {
        await keepOwnKey()
        const makeHeader = () => ({ key, begunUs: beginningAt(clock.wallNow()) })
        const file = await openJournalFile({ disk, clock, claimFolder }, place, key, makeHeader)
        return openSession(key, place, file, createGroupCommit(file, clock), lock)
      } catch (error) {
        await leave(place, lock)
        throw error
      }
    },
    read: (key) => readJournalFile(join(root, folderOfKey(key))),
    list() {
      return explained(root, 'listed', () => listSessions(root))
    },
    async remove(key) {
      const place = join(root, folderOfKey(key))
      if (!(await isThere(place))) return
      const lock = await lockSession(place, key)
      const aside = join(root, `${REMOVED}${randomUUID()}`)
      try {
        // In one step: whoever looks finds either the session under its lock, or nothing.
        await explained(place, 'removed', () => renameWritten(place, aside))
      } catch (error) {
        await lock.release()
        throw error
      }
      await explained(aside, 'removed', () => rm(aside, { recursive: true, force: true }))
      await sweepRemoved(root)
    },
  }
}

const REMOVED = 'removed-'

function openSession(
  key: string,
  place: string,
  file: JournalFile,
  commit: GroupCommit,
  lock: JournalLock,
): SessionJournal {
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    await commit.idle()
    await file.close()
    await leave(place, lock)
  }

  return {
    key,
    records: file.records,
    // The texts are made before anything is awaited, so what the caller later does to its records has no effect.
    append(records) {
      return new Promise((settle) => {
        if (closing !== undefined) {
          throw new UploadError('ERR_UPLOAD_JOURNAL', `The session "${key}" is closed: nothing can be written to it.`)
        }
        settle(records.length === 0 ? undefined : commit.append(records.map(recordText), records.some(isDurable)))
      })
    },
    close: () => (closing ??= close()),
  }
}

/** A session that was opened and got no record leaves nothing behind. */
async function leave(place: string, lock: JournalLock): Promise<void> {
  await forgetKey(place).catch(() => undefined)
  await lock.release()
}

let lastUs = 0

/** In microseconds, so that sessions that begin in the same millisecond have an order, too. */
function beginningAt(wallMs: number): number {
  return (lastUs = Math.max(Math.floor(wallMs) * 1000, lastUs + 1))
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    return errorCode(error) !== 'ENOENT'
  }
}

/** Removes what is left by a process that died while it removed a session, because there are addresses in it. */
async function sweepRemoved(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    if (name.startsWith(REMOVED)) await rm(join(root, name), { recursive: true, force: true }).catch(() => undefined)
  }
}
