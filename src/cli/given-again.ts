// Which sessions of the journal never began and were given again later: three mistakes, such as a wrong key, leave three
// sessions of the same files, and to finish all of them would deliver three copies.

import { foldJournal, type FoldedJournal } from '../core/journal/fold-journal.ts'
import type { Journal } from '../core/ports.ts'
import type { SessionSummary } from '../flows/sessions.ts'

/**
 * By the key of each such session, that of the newest one of the same files for the same purpose which is not given up.
 * Whatever the service may know of is none of them. `sessions`: all of the journal, oldest first. Makes no call.
 */
export async function givenAgain(
  sessions: readonly SessionSummary[],
  journal: Pick<Journal, 'read'>,
): Promise<ReadonlyMap<string, string>> {
  const tries = sessions.filter(mayNeverHaveBegun)
  const newest = new Map<string, string>()
  const again = new Map<string, string>()
  for (const session of sessions.toReversed()) {
    // Journals may be long and many: those that can be of the same files are read.
    if (isGivenUp(session) || !tries.some((one) => one.flow === session.flow && one.bytes === session.bytes)) continue
    const folded = foldJournal(await journal.read(session.key))
    const purpose = JSON.stringify([folded.flow, folded.params, folded.locations])
    const later = newest.get(purpose)
    if (later === undefined) newest.set(purpose, session.key)
    else if (hasNeverBegun(folded)) again.set(session.key, later)
  }
  return again
}

/** What can be told by a summary. The purpose of a custom flow is not in the journal. */
function mayNeverHaveBegun({ status, error, flow, sessionIds, confirmedBytes }: SessionSummary): boolean {
  const isOpen = status === 'open' && error === undefined && flow !== 'custom'
  return isOpen && sessionIds.length === 0 && confirmedBytes === 0
}

/** No try of its create can have been heard. */
function hasNeverBegun({ place, hasPossibleOrphan }: FoldedJournal): boolean {
  return place === 'new' && !hasPossibleOrphan
}

function isGivenUp({ status, error }: SessionSummary): boolean {
  return status === 'cancelled' || status === 'cancelling' || error !== undefined
}
