// The journal of this command, on disk, in the folder that the options or the environment name.

import { join, resolve } from 'node:path'
import { diskJournal } from '../adapters/node/journal/disk-journal.ts'
import { isLocked } from '../adapters/node/journal/journal-lock.ts'
import { folderOfKey } from '../adapters/node/journal/session-folder.ts'
import { stateFolder } from '../adapters/node/journal/state-folder.ts'
import { invalid, UploadError } from '../core/errors.ts'
import type { Journal } from '../core/ports.ts'
import { createSessionList, type SessionSummary } from '../flows/session-list.ts'
import { interruptible, type CommandContext } from './command-context.ts'

export interface KeptSessions {
  readonly journal: Journal
  /** An absolute path. The folder is created with the first session. */
  readonly folder: string
  /** Every session, oldest first. Makes no call. Rejects with the signal's reason as soon as the process is asked to stop. */
  summaries(): Promise<readonly SessionSummary[]>
  /** Whether another process may be driving the session. Takes no lock. */
  isInUse(key: string): Promise<boolean>
  /** Closes what an upload that did not end in time still holds, so that no lock is left behind. Never rejects. */
  close(): Promise<void>
}

/** Reads `--state-dir` and MOCAP_STATE_DIR. Creates nothing on disk. */
export function keptSessions(
  { stateDir }: { readonly stateDir?: string },
  { env, interruption }: Pick<CommandContext, 'env' | 'interruption'>,
): KeptSessions {
  if (stateDir === '') invalid('--state-dir is empty: give a folder.')
  const folder = stateDir === undefined ? stateFolder(env) : resolve(stateDir)
  const journal = diskJournal({ folder })
  const listSessions = createSessionList({ journal })
  const open = new Set<() => Promise<void>>()
  return {
    folder,
    // A folder on a drive that is gone may never be listed.
    summaries: () => interruptible(listSessions(), interruption),
    isInUse: (key) => isLocked(join(folder, folderOfKey(key))),
    journal: {
      ...journal,
      async open(key) {
        const session = await journal.open(key)
        // One that is closed is let go of, with all its records: `resume` opens one after another.
        const close = () => session.close().finally(() => open.delete(close))
        open.add(close)
        return { ...session, close }
      },
    },
    async close() {
      await Promise.allSettled([...open].map((close) => close()))
    },
  }
}

/** The session with this key. Throws ERR_UPLOAD_INVALID_ARGUMENT if the journal does not have it. */
export function knownSession(
  sessions: readonly SessionSummary[],
  key: string,
  { folder }: KeptSessions,
): SessionSummary {
  const known = sessions.find((session) => session.key === key)
  return known ?? invalid(`No session "${key}" is in ${folder}. See mocap-uplink sessions.`)
}

/** Like `knownSession`. If its journal cannot be read, calls `beforeError` and rejects with ERR_UPLOAD_JOURNAL. */
export async function readableSession(
  kept: KeptSessions,
  key: string,
  beforeError: () => void = () => undefined,
): Promise<SessionSummary> {
  const session = knownSession(await kept.summaries(), key, kept)
  if (session.error === undefined) return session
  beforeError()
  throw new UploadError('ERR_UPLOAD_JOURNAL', session.error.message)
}
