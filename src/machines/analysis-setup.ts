// The words that the table of an analysis is written in: its actors as placeholders, its actions and its guards.

import { assign } from 'xstate'

import { known } from '../core/errors.ts'
import type {
  AnalysisContext,
  AnalysisEvent,
  AnalysisInput,
  AnalysisOutput,
  AnalysisSegmentIds,
  AnalysisStatus,
  DraftResult,
  PollResult,
} from './analysis-data.ts'
import { isDoubtful, readRejection } from './rejection.ts'
import { notProvided, setup } from './setup.ts'

/** How often a draft is asked for in all, when each create ends without an answer. */
const MAX_DRAFT_ATTEMPTS = 3

type AnalysisId = string | number

/**
 * Four actors are provided from outside; each gets an AbortSignal that fires when its state is left.
 *
 * - `creatingSegments` creates the segments, or gives back the ids that the host named.
 * - `creatingDraft` creates the analysis as a draft; with `isRepeat` it looks for one of that name first. Rejects with
 *   `details.isDoubtful: true` when the create had no answer: then it is run again, `MAX_DRAFT_ATTEMPTS` times in all.
 * - `submitting` asks the service to begin. Safe to repeat.
 * - `polling` asks for the status until it is final or the deadline has come.
 *
 * A function, so that a page without this machine leaves all of it out.
 */
export const setUpAnalysis = () =>
  setup({
    types: {
      input: {} as AnalysisInput,
      context: {} as AnalysisContext,
      events: {} as AnalysisEvent,
      output: {} as AnalysisOutput,
    },
    actors: {
      creatingSegments: notProvided<AnalysisSegmentIds>('creatingSegments'),
      creatingDraft: notProvided<DraftResult, { segmentIds: AnalysisSegmentIds; isRepeat: boolean }>('creatingDraft'),
      submitting: notProvided<{ serviceStatus?: string }, { analysisId: AnalysisId }>('submitting'),
      polling: notProvided<PollResult, { analysisId: AnalysisId }>('polling'),
    },
    actions: {
      keepSegments: assign({ segmentIds: (_, params: AnalysisSegmentIds) => params }),
      countDraftAttempt: assign(({ context }) => ({
        draftAttempts: context.draftAttempts + 1,
        hasPossibleDraft: true,
      })),
      keepDraft: assign((_, params: DraftResult) => ({ analysisId: params.analysisId, hasPossibleDraft: false })),
      // A refusal says that this create made nothing, and nothing of an earlier one; a doubtful end here is that of the last repeat.
      // A success that cannot be read says nothing.
      keepDraftDoubt: assign(({ context }, params: { reason: unknown }) => ({
        hasPossibleDraft: context.isRepeat || readRejection(params.reason).error.code === 'ERR_UPLOAD_SERVICE_REPLY',
      })),
      lookFirst: assign({ isRepeat: true }),
      keepServiceStatus: assign(({ context }, params: { serviceStatus?: string }) => ({
        serviceStatus: params.serviceStatus ?? context.serviceStatus,
      })),
      keepPolled: assign(({ context }, { serviceStatus, error }: PollResult) => ({
        serviceStatus: serviceStatus ?? context.serviceStatus,
        error: error ?? null,
      })),
      conclude: assign({ status: (_, params: { status: AnalysisStatus }) => params.status }),
      keepError: assign({ error: (_, params: { reason: unknown }) => readRejection(params.reason).error }),
    },
    guards: {
      isDraft: ({ context }) => context.place === 'draft',
      isRequested: ({ context }) => context.place === 'requested',
      hasToSubmit: ({ context }) => context.shouldSubmit,
      isWorthRepeating: ({ context }, params: { reason: unknown }) =>
        isDoubtful(params.reason) && context.draftAttempts < MAX_DRAFT_ATTEMPTS,
      isCompleted: (_, { verdict }: PollResult) => verdict === 'completed',
      isFailed: (_, { verdict }: PollResult) => verdict === 'failed',
    },
  })

/** What an analysis begins with. */
export function beginContext(input: AnalysisInput): AnalysisContext {
  return {
    place: input.place,
    shouldSubmit: input.shouldSubmit ?? true,
    segmentIds: null,
    analysisId: input.place === 'new' ? null : input.analysisId,
    hasPossibleDraft: input.place === 'new' && (input.isRepeat ?? false),
    draftAttempts: 0,
    isRepeat: input.place === 'new' && (input.isRepeat ?? false),
    serviceStatus: null,
    status: null,
    error: null,
  }
}

/** What `done` of an analysis is told. */
export function outputOf(context: AnalysisContext): AnalysisOutput {
  return {
    status: known(context.status),
    segmentIds: context.segmentIds,
    analysisId: context.analysisId,
    hasPossibleDraft: context.hasPossibleDraft,
    serviceStatus: context.serviceStatus,
    error: context.error,
  }
}
