// Finds the unfinished session of files that are given once more. After a kill, people give the same command again, and a later resume
// of everything would deliver these files a second time.

import type { Source } from '../core/ports.ts'
import type { KeptSessions } from './kept-sessions.ts'
import { readFolded } from './read-folded.ts'
import { isResumable } from './views/sessions-view.ts'

export interface GivenBefore {
  readonly key: string
  /** How many of the files it has that are not confirmed. */
  readonly count: number
}

/**
 * The newest such session, or undefined. One that no service has heard of, or that another `host` has, is not meant: a resume of
 * everything leaves it out. Rejects as `summaries` does.
 */
export async function givenBefore(
  files: readonly { readonly source: Pick<Source, 'location'> }[],
  { summaries, journal }: Pick<KeptSessions, 'summaries' | 'journal'>,
  host: string | undefined,
): Promise<GivenBefore | undefined> {
  const given = new Set(files.map(({ source }) => source.location))
  const begun = (await summaries()).filter((session) => isResumable(session) && session.sessionIds.length > 0)
  for (const { key } of begun.toReversed()) {
    const folded = (await readFolded(journal, key))?.folded
    if (folded === undefined || folded.host !== host) continue
    const { ledger, locations } = folded
    const left = ledger.files.filter(({ state, plan }) => state !== 'confirmed' && given.has(locations[plan.fileIndex]))
    const count = left.length
    if (count > 0) return { key, count }
  }
  return undefined
}
