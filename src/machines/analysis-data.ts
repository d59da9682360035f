// What the machine of an analysis is told, what it holds and what it gives back. All of it is plain JSON.

import type { ErrorSummary } from '../core/errors.ts'

/** Ids of the segments at the service. */
export interface AnalysisSegmentIds {
  readonly primary: number
  readonly comparison?: number
  readonly population?: number
}

/** What is known of the analysis, and how far it shall go. */
export type AnalysisInput = {
  /** False: ends in `drafted`, without submitting. Default true; unused from `requested` on. */
  readonly shouldSubmit?: boolean
} & (
  | {
      readonly place: 'new'
      /** True when an earlier life may have made the draft: it is looked up by name first. Default false. */
      readonly isRepeat?: boolean
    }
  | { readonly place: 'draft' | 'requested'; readonly analysisId: string | number }
)

/** Plain JSON throughout. */
export interface AnalysisContext {
  readonly place: AnalysisInput['place']
  readonly shouldSubmit: boolean
  readonly segmentIds: AnalysisSegmentIds | null
  readonly analysisId: string | number | null
  /** True while the service may hold a draft under our name whose id is not known here. */
  readonly hasPossibleDraft: boolean
  readonly draftAttempts: number
  /** True when the next look for a draft of our name comes before a create. */
  readonly isRepeat: boolean
  /** The service's own word, as last heard; null before. */
  readonly serviceStatus: string | null
  /** Null until a final state is entered. */
  readonly status: AnalysisStatus | null
  /** Why we could not go on, or heard no more of the service until the deadline. Null also when the service itself says that the analysis failed. */
  readonly error: ErrorSummary | null
}

/** `analysis.stop` comes from the host and ends our part only; `analysis.status` comes from `polling`, on each answer. */
export type AnalysisEvent =
  { readonly type: 'analysis.stop' } | { readonly type: 'analysis.status'; readonly serviceStatus: string }

/**
 * `deadline`: the service had not come to an end when polling gave up, and `serviceStatus` is its last word.
 * `stopped`: the host asked; what is known so far is kept.
 */
export type AnalysisStatus = 'drafted' | 'completed' | 'failed' | 'deadline' | 'stopped'

export interface AnalysisOutput {
  readonly status: AnalysisStatus
  readonly segmentIds: AnalysisSegmentIds | null
  readonly analysisId: string | number | null
  readonly hasPossibleDraft: boolean
  readonly serviceStatus: string | null
  readonly error: ErrorSummary | null
}

/** What `polling` ends with. */
export interface PollResult {
  /** Absent where the service said none: what was heard before stays. */
  readonly serviceStatus?: string
  readonly verdict: 'completed' | 'failed' | 'deadline'
  /** With `deadline`: why the last questions had no answer of the service; absent where it answered. */
  readonly error?: ErrorSummary
}

export interface DraftResult {
  readonly analysisId: string | number
  /** The service's word for it, when the answer had one. */
  readonly serviceStatus?: string
}
