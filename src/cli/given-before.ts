// Finds the unfinished session of files that are given once more. After a kill, people give the same command again, and a later resume
// of everything would deliver these files a second time.

import { differenceOf } from '../adapters/web/source-identity.ts'
import type { SourceIdentity } from '../core/ports.ts'
import type { KeptSessions } from './kept-sessions.ts'
import { readFolded } from './read-folded.ts'
import { isResumable } from './views/sessions-view.ts'

export interface GivenBefore {
  readonly key: string
  /** How many of the files it has that are not confirmed. */
  readonly count: number
}

/**
 * The newest such session, or undefined. `given`: the files by their locations. One that has changed since is not meant: no resume
 * delivers it, and to upload it once more is what to do about it. Nor is a session that no service has heard of, or that another
 * `host` has: a resume of everything leaves it out. Rejects as `summaries` does.
 */
export async function givenBefore(
  given: ReadonlyMap<string | undefined, SourceIdentity>,
  { summaries, journal }: Pick<KeptSessions, 'summaries' | 'journal'>,
  host: string | undefined,
): Promise<GivenBefore | undefined> {
  const begun = (await summaries()).filter((session) => isResumable(session) && session.sessionIds.length > 0)
  for (const { key } of begun.toReversed()) {
    const folded = (await readFolded(journal, key))?.folded
    if (folded === undefined || folded.host !== host) continue
    const left = folded.ledger.files.filter(({ state, plan }) => {
      const now = given.get(folded.locations[plan.fileIndex] ?? '')
      return state !== 'confirmed' && now !== undefined && differenceOf(plan, now) === undefined
    })
    const count = left.length
    if (count > 0) return { key, count }
  }
  return undefined
}
