// Finds sessions of the journal that never began and whose files went on in another session. Three failed tries, such as with a
// wrong key, leave three sessions of the same files. To finish all of them would deliver three copies.

import type { FoldedJournal } from '../core/journal/fold-journal.ts'
import type { Journal } from '../core/ports.ts'
import type { SessionSummary } from '../flows/sessions.ts'
import { readFolded } from './read-folded.ts'

interface Try {
  readonly key: string
  readonly hasNeverBegun: boolean
  /** When it was last worked on, wall time. Of one that never began, that is when it was given. */
  readonly touchedAtMs: number
}

/**
 * Maps the key of each such session to that of the session of the same files for the same purpose that was worked on last and is not
 * given up: mostly it was given later, but an earlier one may have been resumed since. A session that the service may know of is
 * never among the keys. `sessions`: all of the journal, oldest first. Makes no call.
 */
export async function givenAgain(
  sessions: readonly SessionSummary[],
  journal: Pick<Journal, 'read'>,
): Promise<ReadonlyMap<string, string>> {
  const again = new Map<string, string>()
  for (const tries of await triesByPurpose(sessions, journal)) {
    // Of two that were worked on in the same millisecond, the one that was given later.
    const last = tries.reduce((latest, one) => (one.touchedAtMs > latest.touchedAtMs ? one : latest))
    for (const { key, hasNeverBegun } of tries) if (hasNeverBegun && key !== last.key) again.set(key, last.key)
  }
  return again
}

/** The tries for each purpose that one which never began may share, newest first. */
async function triesByPurpose(
  sessions: readonly SessionSummary[],
  journal: Pick<Journal, 'read'>,
): Promise<Iterable<readonly Try[]>> {
  const unbegun = sessions.filter(mayNeverHaveBegun)
  const byPurpose = new Map<string, Try[]>()
  for (const session of sessions.toReversed()) {
    // Journals may be long and many, so only those are read that can be of the same files.
    if (isGivenUp(session) || !unbegun.some((one) => one.flow === session.flow && one.bytes === session.bytes)) continue
    const found = await readFolded(journal, session.key)
    if (found === undefined) continue
    const { records, folded } = found
    const isUnbegun = hasNeverBegun(folded)
    const touchedAtMs = (isUnbegun ? undefined : records.at(-1)?.at) ?? folded.beganAt
    const purpose = JSON.stringify([folded.flow, folded.params, folded.locations])
    const tries = byPurpose.get(purpose) ?? []
    byPurpose.set(purpose, [...tries, { key: session.key, hasNeverBegun: isUnbegun, touchedAtMs }])
  }
  return byPurpose.values()
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

/**
 * True if nothing of it counts any more. A session that was cancelled counts if files of it stay with the service: those that were
 * kept, and all that a capture has stored. To begin with these files after all would deliver them twice.
 */
function isGivenUp({ status, error, flow, filesConfirmed, keepsConfirmed }: SessionSummary): boolean {
  const isStored = keepsConfirmed === true || (flow === 'capture' && filesConfirmed > 0)
  return error !== undefined || ((status === 'cancelled' || status === 'cancelling') && !isStored)
}
