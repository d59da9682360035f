// The report of an upload, made from the ledger: what is confirmed, what is verified, what is missing and why.

import type { FlowName } from '../core/journal.ts'
import { isReceived, type LedgerFile } from '../core/ledger.ts'
import type { UploadSessionOutput } from '../machines/session-data.ts'
import type { SessionRecord } from './session-record.ts'
import type { FileReport, UploadReport } from './upload.ts'

export interface ReportOptions {
  readonly flow: FlowName
  readonly key: string
  readonly output: UploadSessionOutput
  readonly record: SessionRecord
  readonly durationMs: number
}

export function buildReport({ flow, key, output, record, durationMs }: ReportOptions): UploadReport {
  const folded = record.folded()
  const files = folded?.ledger.files ?? []
  const error = output.error ?? output.journalError
  return {
    ...{ flow, key, durationMs, status: output.status },
    sessionId: output.sessionId ?? undefined,
    bytes: files.reduce((sum, file) => sum + file.plan.sizeBytes, 0),
    files: files.map(fileReport),
    hasPossibleOrphan: folded?.hasPossibleOrphan ?? false,
    ...(error === null ? {} : { error }),
    ...(output.isServiceTold === null ? {} : { isServiceTold: output.isServiceTold }),
  }
}

function fileReport(file: LedgerFile): FileReport {
  const { name, sizeBytes: bytes, partCount: parts } = file.plan
  const status = file.state === 'confirmed' || file.state === 'failed' ? file.state : 'unfinished'
  const verified = file.parts.every((part) => isReceived(part) && part.receipt?.isVerified === true)
  return { name, bytes, parts, status, verified, ...(file.error === undefined ? {} : { error: file.error }) }
}
