// The report of an upload, made from the ledger: what is confirmed, what is verified, and what is missing and why.

import { known } from '../core/errors.ts'
import { given } from '../core/given.ts'
import { isAsked } from '../core/journal/fold-journal.ts'
import type { FlowName } from '../core/journal/journal.ts'
import { isReceived, type LedgerFile } from '../core/journal/ledger.ts'
import type { UploadSessionContext } from '../machines/session-data.ts'
import type { SessionRecord } from './session-record.ts'
import type { FileReport, UploadReport, UploadSnapshot } from './upload.ts'

/** What is known so far. May be called at any time. */
export function buildSnapshot(flow: FlowName, record: SessionRecord, durationMs: number): UploadSnapshot {
  const folded = record.folded()
  const { files } = record.ledger()
  return {
    flow,
    key: record.key,
    durationMs,
    sessionId: folded?.sessionId,
    bytes: files.reduce((sum, file) => sum + file.plan.sizeBytes, 0),
    files: files.map(fileReport),
    // If it ended now, a create without a clear answer might still have made a session.
    hasPossibleOrphan: folded !== undefined && (folded.hasPossibleOrphan || isAsked(folded)),
  }
}

/** `context`: of a machine that has ended. */
export function buildReport(
  flow: FlowName,
  record: SessionRecord,
  durationMs: number,
  { status, error, journalError, isServiceTold }: UploadSessionContext,
): UploadReport {
  return {
    status: known(status),
    ...buildSnapshot(flow, record, durationMs),
    ...given({
      // A cancel that was not kept comes first: a later run does not know of it, and may go on.
      error: (status === 'cancelled' ? journalError : error) ?? error ?? journalError ?? undefined,
      isServiceTold: isServiceTold ?? undefined,
      keepsConfirmed: record.folded()?.keepsConfirmed,
    }),
  }
}

function fileReport(file: LedgerFile): FileReport {
  const { name, sizeBytes: bytes, partCount: parts } = file.plan
  const verified = file.parts.every((part) => isReceived(part) && part.receipt?.isVerified === true)
  return { name, bytes, parts, status: statusOf(file), verified, ...given({ error: file.error }) }
}

/** How a file ended, or that it has not ended. */
export function statusOf({ state }: LedgerFile): FileReport['status'] {
  return state === 'confirmed' || state === 'failed' ? state : 'unfinished'
}
