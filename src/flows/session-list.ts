// Lists the sessions in the journal, as far as they are known without driving them.

import { summarize, type ErrorSummary } from '../core/errors.ts'
import { given } from '../core/given.ts'
import {
  finalStatusOf,
  foldJournal,
  givesUpConfirmed,
  sessionsOf,
  type FoldedJournal,
} from '../core/journal/fold-journal.ts'
import type { FinalStatus, FlowName } from '../core/journal/journal.ts'
import { receivedBytesOf } from '../core/journal/ledger.ts'
import type { Journal } from '../core/ports.ts'
import { inBatches } from './in-batches.ts'

/** One session of the journal, as far as it is known without driving it. */
export interface SessionSummary {
  readonly key: string
  readonly flow: FlowName | undefined
  /** `open`: something is left to do, and `resume` does it. `cancelling`: the service has yet to be told. */
  readonly status: 'open' | 'cancelling' | FinalStatus
  readonly sessionId: string | number | undefined
  /**
   * Every session of the service that a cancel ends: the newest, those that hold files of this upload, and those left empty. After
   * a discard, sessions with a confirmed file are not among them.
   */
  readonly sessionIds: readonly (string | number)[]
  /** Those of `sessionIds` that were left empty and that the service has yet to be told about; `resume` tells it. */
  readonly leftSessionIds: readonly (string | number)[]
  readonly beganAtMs: number | undefined
  /** Where the first of its files was, or its name if its source has no place. People know a session by it. */
  readonly firstFile: string | undefined
  readonly bytes: number
  readonly confirmedBytes: number
  readonly filesTotal: number
  /** After a cancel of videos that gave everything up: 0. */
  readonly filesConfirmed: number
  readonly filesFailed: number
  /** After a cancel: whether the service was told. */
  readonly isServiceTold?: boolean
  /** After a discard: confirmed files stay with the service. */
  readonly keepsConfirmed?: boolean
  /** Why this session's journal cannot be read. */
  readonly error?: ErrorSummary
}

/**
 * Makes the function that lists sessions, oldest first. It takes no lease, so sessions that another process drives are included.
 * A session that is confirmed as a whole, with nothing left to tell the service, never changes again: its journal is read once.
 */
export function createSessionList({ journal }: { readonly journal: Journal }): () => Promise<SessionSummary[]> {
  let known = new Map<string, SessionSummary>()
  return async () => {
    const listed = await inBatches(await journal.list(), (key) => {
      const summary = known.get(key)
      return summary?.status === 'confirmed' && !summary.leftSessionIds[0] ? summary : summarizeSession(journal, key)
    })
    known = new Map(listed.map((summary) => [summary.key, summary]))
    return listed
  }
}

async function summarizeSession(journal: Journal, key: string): Promise<SessionSummary> {
  let folded: FoldedJournal | undefined
  let error: ErrorSummary | undefined
  try {
    folded = foldJournal(await journal.read(key))
  } catch (reason) {
    error = summarize(reason)
  }
  const {
    flow,
    sessionId,
    leftSessionIds = [],
    beganAt: beganAtMs,
    isServiceTold,
    keepsConfirmed,
    ledger,
    locations,
  } = folded ?? {}
  const { files = [], confirmedCount = 0, failedCount: filesFailed = 0 } = ledger ?? {}
  return {
    sessionIds: sessionsOf(folded),
    leftSessionIds,
    key,
    flow,
    sessionId,
    beganAtMs,
    firstFile: locations?.[0],
    filesConfirmed: folded && givesUpConfirmed(folded) ? 0 : confirmedCount,
    filesFailed,
    filesTotal: files.length,
    status: folded?.place === 'cancelling' ? 'cancelling' : (finalStatusOf(folded?.place ?? 'new') ?? 'open'),
    bytes: files.reduce((sum, file) => sum + file.plan.sizeBytes, 0),
    confirmedBytes: receivedBytesOf(files),
    ...given({ isServiceTold, keepsConfirmed, error }),
  }
}
