// The journal of this command: on disk, in the folder that the options or the environment name.

import { join, resolve } from 'node:path'
import { isLocked } from '../adapters/node/journal/journal-lock.ts'
import { folderOfKey } from '../adapters/node/journal/session-folder.ts'
import { invalid } from '../core/errors.ts'
import type { Journal, SessionJournal } from '../core/ports.ts'
import { diskJournal, stateFolder } from '../node.ts'
import type { Environment } from './options/credentials-from-options.ts'

export interface KeptSessions {
  readonly journal: Journal
  /** Absolute. Made with the first session. */
  readonly folder: string
  /** Whether another process may be driving the session. Takes no lock. */
  isInUse(key: string): Promise<boolean>
  /** Gives back what is still open: an interrupted upload leaves no lock behind. Never rejects. */
  close(): Promise<void>
}

/** Reads `--state-dir` and MOCAP_STATE_DIR; makes nothing. */
export function keptSessions({ stateDir }: { readonly stateDir?: string }, env: Environment): KeptSessions {
  if (stateDir === '') invalid('--state-dir is empty: give a folder.')
  const folder = stateDir === undefined ? stateFolder(env) : resolve(stateDir)
  const journal = diskJournal({ folder })
  const open = new Set<SessionJournal>()
  return {
    folder,
    isInUse: (key) => isLocked(join(folder, folderOfKey(key))),
    journal: {
      ...journal,
      async open(key) {
        const session = await journal.open(key)
        open.add(session)
        return session
      },
    },
    async close() {
      await Promise.allSettled([...open].map((session) => session.close()))
    },
  }
}
