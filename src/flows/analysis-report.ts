// How an analysis ends. It is a file of its own so that the CLI recognizes a failed analysis without loading the machine.

import { UploadError, type ErrorSummary } from '../core/errors.ts'
import type { AnalysisSegmentIds, AnalysisStatus } from '../machines/analysis-data.ts'

/** How an analysis ended, or how far it came. */
export interface AnalysisReport {
  readonly flow: 'analysis'
  /** `deadline`: the service did not finish in time. `serviceStatus` is its last word, `error` what kept us from a later one. */
  readonly status: AnalysisStatus
  /** The service's id. Undefined where no draft was made. */
  readonly analysisId: string | number | undefined
  /** The service's own word. Undefined until it said one. */
  readonly serviceStatus: string | undefined
  /** The segments that it compares. Undefined until they are made. */
  readonly segmentIds: AnalysisSegmentIds | undefined
  /** The service may hold a draft of this name whose id is unknown here. */
  readonly hasPossibleDraft: boolean
  readonly durationMs: number
  /** Why it failed, or what kept us from a later status. */
  readonly error?: ErrorSummary
}

/** What `done()` of an analysis rejects with. Everything that is known is in `report`. */
export class AnalysisFailedError extends UploadError {
  readonly report: AnalysisReport

  constructor(report: AnalysisReport, cause?: unknown) {
    const said = report.serviceStatus === undefined ? 'It was not made.' : `The service says: ${report.serviceStatus}.`
    super(report.error?.code ?? 'ERR_UPLOAD_FAILED', report.error?.message ?? `The analysis failed. ${said}`, { cause })
    this.name = 'AnalysisFailedError'
    this.report = report
  }
}
