// Which files `resume --files-in` looks for: those of all sessions that it resumes, since a file of one may be mistaken for another's.

import { foldJournal } from '../core/journal/fold-journal.ts'
import type { Journal, SoughtFile } from '../core/ports.ts'
import { inBatches } from '../flows/in-batches.ts'
import type { SessionSummary } from '../flows/sessions.ts'
import { soughtFiles } from '../flows/sought-files.ts'
import { movedFiles, type FoundPlace, type MovedFiles } from './moved-files.ts'

/** A file that is looked for, and where it is now. */
export interface LookedFor {
  readonly file: SoughtFile
  readonly place: FoundPlace
}

export interface LostFiles extends Pick<MovedFiles, 'source'> {
  /** Looks for the files that are not confirmed, by the key of their session. */
  look(): Promise<ReadonlyMap<string, readonly LookedFor[]>>
}

/** Looks below `folder` for the files of these sessions. Makes no call. Rejects as `movedFiles` does. */
export async function lostFiles(
  folder: string,
  sessions: readonly SessionSummary[],
  journal: Pick<Journal, 'read'>,
): Promise<LostFiles> {
  const all: SoughtFile[][] = []
  const missing = new Map<string, readonly SoughtFile[]>()
  for (const { key, error } of sessions) {
    if (error !== undefined) continue
    const folded = foldJournal(await journal.read(key))
    const files = soughtFiles(folded)
    all.push(files)
    missing.set(
      key,
      files.filter((_, index) => folded.ledger.files[index]?.state !== 'confirmed'),
    )
  }
  const { source, find } = await movedFiles(folder, all.flat())
  return {
    source,
    async look() {
      const looked = new Map<string, readonly LookedFor[]>()
      for (const [key, files] of missing)
        looked.set(key, await inBatches(files, async (file) => ({ file, place: await find(file) })))
      return looked
    },
  }
}
