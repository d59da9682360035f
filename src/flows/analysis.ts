// What a host gives for a requested analysis, and what it holds of it: its handle and its events.

import type { RequestedAnalysis } from '../client/contract.ts'
import type { ErrorSummary } from '../core/errors.ts'
import type { Outage } from '../core/ports.ts'
import type { AnalysisStatus } from '../machines/analysis-data.ts'
import type { AnalysisReport } from './analysis-report.ts'
import type { AnalysisSegment } from './analysis-segments.ts'
import type { Events } from './emitter.ts'
import type { PollingOptions } from './polling.ts'

export interface AnalysisOptions extends PollingOptions {
  /** Stops waiting when it fires, as `Uplink.close` does. The service goes on with the analysis. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** Reads an analysis's id from its record. Assumption: the field is not shown. Default: `id`, then `requested_analysis_id`. */
  readonly idOf?: ((record: RequestedAnalysis) => string | number | undefined) | undefined
}

export interface AnalysisRequestInput extends AnalysisOptions {
  /** The name. A draft is found by it after a lost answer, so give each analysis a name of its own. */
  readonly name: string
  readonly primary: AnalysisSegment
  readonly comparison?: AnalysisSegment | undefined
  readonly population?: AnalysisSegment | undefined
  /** Whether to submit the draft; false stops there. Default true. */
  readonly submit?: boolean | undefined
}

/** What an analysis is doing: its segments and its draft are made, it is submitted, it is polled, or how it ended. */
export type AnalysisState = 'creatingSegments' | 'creatingDraft' | 'submitting' | 'requested' | AnalysisStatus

/** What `on` takes: each event with its payload. */
export interface AnalysisEvents {
  state: { readonly state: AnalysisState }
  /** The service's own status word has changed. */
  status: { readonly serviceStatus: string }
  /** The service is unreachable. Emitted at every try. */
  waiting: Outage
  /** Something a person should know that did not stop the analysis. */
  warning: ErrorSummary
}

/** A requested analysis under way. It goes on at the service, whatever becomes of this object. */
export interface Analysis extends Events<AnalysisEvents> {
  readonly state: AnalysisState
  /** The service's id, from `submitting` on; undefined before. Keep it: `watchAnalysis` goes on with it in another process. */
  readonly analysisId: string | number | undefined
  /**
   * Resolves when the analysis is completed, drafted, past its deadline or stopped. Rejects with an AnalysisFailedError when it
   * failed, or when `Uplink.close` or its signal stopped it.
   */
  done(): Promise<AnalysisReport>
  /** Stops waiting. The service goes on with the analysis. */
  stop(): void
}
