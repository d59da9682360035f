// Where the files of sessions are that `resume` would take up. With --files-in, those of all sessions are looked for together, since a
// file of one may be mistaken for another's.

import { fileAt, receivedBytesOf } from '../core/journal/ledger.ts'
import type { Journal, SoughtFile } from '../core/ports.ts'
import { inBatches } from '../flows/in-batches.ts'
import type { SessionSummary } from '../flows/sessions.ts'
import { soughtFiles } from '../core/journal/sought-files.ts'
import { asItWas, movedFiles, type FoundPlace, type MovedFiles } from './moved-files.ts'
import { readFolded } from './read-folded.ts'

/** A file that is not confirmed, and where it is now. */
export interface LookedFor {
  readonly file: SoughtFile
  readonly place: FoundPlace
  /** How many of its bytes have a receipt. */
  readonly receivedBytes: number
}

/** The files that are not confirmed, by the key of their session. */
export type LookedForBySession = ReadonlyMap<string, readonly LookedFor[]>

export interface LostFiles extends Pick<MovedFiles, 'source'> {
  /** Looks for the files that are not confirmed. */
  look(): Promise<LookedForBySession>
}

/** Looks below `folder` for the files of these sessions. Makes no call. Rejects as `movedFiles` does. */
export async function lostFiles(
  folder: string,
  sessions: readonly SessionSummary[],
  journal: Pick<Journal, 'read'>,
): Promise<LostFiles> {
  const { all, open } = await filesOf(sessions, journal)
  const { source, find } = await movedFiles(folder, all)
  return { source, look: () => lookForEach(open, find) }
}

/** Looks for the files of these sessions only where they were. Makes no call. */
export async function filesWhereTheyWere(
  sessions: readonly SessionSummary[],
  journal: Pick<Journal, 'read'>,
): Promise<LookedForBySession> {
  const { open } = await filesOf(sessions, journal)
  return lookForEach(open, asItWas)
}

type Sought = Omit<LookedFor, 'place'>

/** All files of the sessions that can be read, and those that are not confirmed by session. */
async function filesOf(sessions: readonly SessionSummary[], journal: Pick<Journal, 'read'>) {
  const all: SoughtFile[][] = []
  const open = new Map<string, readonly Sought[]>()
  for (const { key, error } of sessions) {
    if (error !== undefined) continue
    const found = await readFolded(journal, key)
    if (found === undefined) continue
    const { folded } = found
    const files = soughtFiles(folded)
    all.push(files)
    const missing = files.flatMap((file, index): Sought[] => {
      const planned = fileAt(folded.ledger, index)
      return planned.state === 'confirmed' ? [] : [{ file, receivedBytes: receivedBytesOf([planned]) }]
    })
    open.set(key, missing)
  }
  return { all: all.flat(), open }
}

async function lookForEach(
  open: ReadonlyMap<string, readonly Sought[]>,
  find: (file: SoughtFile) => Promise<FoundPlace>,
): Promise<LookedForBySession> {
  const looked = new Map<string, readonly LookedFor[]>()
  for (const [key, files] of open)
    looked.set(key, await inBatches(files, async (one) => ({ ...one, place: await find(one.file) })))
  return looked
}
