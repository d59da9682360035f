// Finds sessions of the journal that never began and whose files were given again later. Three failed tries, such as with a
// wrong key, leave three sessions of the same files. To finish all of them would deliver three copies.

import { foldJournal, type FoldedJournal } from '../core/journal/fold-journal.ts'
import type { Journal } from '../core/ports.ts'
import type { SessionSummary } from '../flows/sessions.ts'

/**
 * Maps the key of each such session to that of the newest session of the same files for the same purpose that is not given up.
 * A session that the service may know of is never among them. `sessions`: all of the journal, oldest first. Makes no call.
 */
export async function givenAgain(
  sessions: readonly SessionSummary[],
  journal: Pick<Journal, 'read'>,
): Promise<ReadonlyMap<string, string>> {
  const tries = sessions.filter(mayNeverHaveBegun)
  const newest = new Map<string, string>()
  const again = new Map<string, string>()
  for (const session of sessions.toReversed()) {
    // Journals may be long and many, so only those are read that can be of the same files.
    if (isGivenUp(session) || !tries.some((one) => one.flow === session.flow && one.bytes === session.bytes)) continue
    const folded = foldJournal(await journal.read(session.key))
    const purpose = JSON.stringify([folded.flow, folded.params, folded.locations])
    const later = newest.get(purpose)
    if (later === undefined) newest.set(purpose, session.key)
    else if (hasNeverBegun(folded)) again.set(session.key, later)
  }
  return again
}

/** As far as a summary can tell. A custom flow is left out, because its purpose is not in the journal. */
function mayNeverHaveBegun({ status, error, flow, sessionIds, confirmedBytes }: SessionSummary): boolean {
  const isOpen = status === 'open' && error === undefined && flow !== 'custom'
  return isOpen && sessionIds.length === 0 && confirmedBytes === 0
}

/** True if the service cannot have heard any try of its create. */
function hasNeverBegun({ place, hasPossibleOrphan }: FoldedJournal): boolean {
  return place === 'new' && !hasPossibleOrphan
}

function isGivenUp({ status, error }: SessionSummary): boolean {
  return status === 'cancelled' || status === 'cancelling' || error !== undefined
}
