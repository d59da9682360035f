// Finds sessions of another service than the one that is asked. Two services may share a state folder, such as one to try things
// out and the one that counts, and files of the one must not go to the other because both are resumed.

import { hostOf } from '../core/address/address.ts'
import type { Journal } from '../core/ports.ts'
import type { SessionSummary } from '../flows/sessions.ts'
import { readFolded } from './read-folded.ts'

/**
 * Maps the key of each session that another host and port has, or may have, to that `host:port`. Of a session for which none was
 * asked, nothing is there, so its address may simply have been misspelt. `asked`: the service's base URL; undefined in a dry run
 * without one.
 */
export async function begunElsewhere(
  sessions: readonly SessionSummary[],
  journal: Pick<Journal, 'read'>,
  asked: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const elsewhere = new Map<string, string>()
  if (asked === undefined) return elsewhere
  for (const { key, sessionIds, error } of sessions) {
    if (error !== undefined) continue
    const folded = (await readFolded(journal, key))?.folded
    const mayBeThere = sessionIds.length > 0 || folded?.hasPossibleOrphan === true
    const host = folded?.host
    if (mayBeThere && host !== undefined && host !== hostOf(asked)) elsewhere.set(key, host)
  }
  return elsewhere
}
