// What an analysis ends with. Apart from what runs it: the command knows a failed analysis without loading the machine.

import { UploadError, type ErrorSummary } from '../core/errors.ts'
import type { AnalysisSegmentIds, AnalysisStatus } from '../machines/analysis-data.ts'

export interface AnalysisReport {
  readonly flow: 'analysis'
  /** `deadline`: the service had not finished in time; `serviceStatus` is its last word, and `error` what kept us from later ones. */
  readonly status: AnalysisStatus
  readonly analysisId: string | number | undefined
  readonly serviceStatus: string | undefined
  readonly segmentIds: AnalysisSegmentIds | undefined
  /** The service may hold a draft of this name whose id is not known here. */
  readonly hasPossibleDraft: boolean
  readonly durationMs: number
  readonly error?: ErrorSummary
}

export class AnalysisFailedError extends UploadError {
  readonly report: AnalysisReport

  constructor(report: AnalysisReport, cause?: unknown) {
    const said = report.serviceStatus === undefined ? 'It was not made.' : `The service says: ${report.serviceStatus}.`
    super(report.error?.code ?? 'ERR_UPLOAD_FAILED', report.error?.message ?? `The analysis failed. ${said}`, { cause })
    this.name = 'AnalysisFailedError'
    this.report = report
  }
}
