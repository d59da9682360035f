// The input, context, events and output of the analysis machine. All of it is plain JSON.

import type { ErrorSummary } from '../core/errors.ts'

/** Ids of the segments at the service. */
export interface AnalysisSegmentIds {
  readonly primary: number
  readonly comparison?: number
  readonly population?: number
}

/** What is known of the analysis, and how far it is to go. */
export interface AnalysisMachineInput {
  /** One that was requested earlier, to be watched. Null: a new one is made. */
  readonly analysisId: string | number | null
  /** False: a new one ends in `drafted`, without submitting. Default true. */
  readonly shouldSubmit?: boolean
}

/** The machine's context. Plain JSON throughout. */
export interface AnalysisContext {
  readonly shouldSubmit: boolean
  readonly segmentIds: AnalysisSegmentIds | null
  readonly analysisId: string | number | null
  /** True while the service may hold a draft under our name whose id is not known here. */
  readonly hasPossibleDraft: boolean
  readonly draftAttempts: number
  /** The service's own word for the status, as last heard; null before. */
  readonly serviceStatus: string | null
  /**
   * Why we could not go on, or heard no more from the service until the deadline. Null also when the service itself says that
   * the analysis failed.
   */
  readonly error: ErrorSummary | null
}

/** `analysis.stop` comes from the host and ends only our part; `analysis.status` comes from `polling`, with each new word. */
export type AnalysisEvent =
  { readonly type: 'analysis.stop' } | { readonly type: 'analysis.status'; readonly serviceStatus: string }

/**
 * The final states. `deadline`: polling gave up before the service came to an end, and `serviceStatus` is its last word. `stopped`:
 * the host asked us to stop; what is known so far is kept.
 */
export type AnalysisStatus = 'drafted' | 'completed' | 'failed' | 'deadline' | 'stopped'

/** What `polling` ends with. The service's word came before, as an event. */
export interface PollResult {
  readonly verdict: 'completed' | 'failed' | 'deadline'
  /** With `deadline`: why the service did not answer the last questions; absent where it did. */
  readonly error?: ErrorSummary
}

export interface DraftResult {
  readonly analysisId: string | number
  /** The service's word for its status, when the answer had one. */
  readonly serviceStatus?: string
}
