// The vocabulary of an analysis's table: its actors as placeholders, its actions and its guards.

import { assign } from 'xstate'

import type {
  AnalysisContext,
  AnalysisEvent,
  AnalysisMachineInput,
  AnalysisSegmentIds,
  DraftResult,
  PollResult,
} from './analysis-data.ts'
import type { TransferFailure } from './rejection.ts'
import { notProvided, setup } from './setup.ts'

/** How often a draft is asked for in all, if each create ends without an answer. */
const MAX_DRAFT_ATTEMPTS = 3

type AnalysisId = string | number

/**
 * Four actors are provided from outside; each gets an AbortSignal that fires when its state is left.
 *
 * - `creatingSegments` creates the segments, or returns the ids that the host named.
 * - `creatingDraft` creates the analysis as a draft; with `isRepeat` it first looks for one of that name. Rejects with
 *   `details.isDoubtful: true` when the create had no answer; it is then run again, `MAX_DRAFT_ATTEMPTS` times in all.
 * - `submitting` asks the service to begin. Safe to repeat.
 * - `polling` asks for the status until it is final or the deadline has come.
 *
 * A function, so that a page without this machine leaves all of it out.
 */
export const setUpAnalysis = () =>
  setup({
    types: {
      input: {} as AnalysisMachineInput,
      context: {} as AnalysisContext,
      events: {} as AnalysisEvent,
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
      // A refusal says that this create made nothing, but says nothing about earlier ones. A doubtful end gets here only from
      // the last repeat. A success that cannot be read, by us or by the host's own function, leaves the doubt.
      keepDraftDoubt: assign(({ context }, { error }: TransferFailure) => ({
        hasPossibleDraft: isRepeat(context) || /_(?:REPLY|INTERNAL)$/.test(error.code),
      })),
      keepServiceStatus: assign(({ context }, params: { serviceStatus?: string }) => ({
        serviceStatus: params.serviceStatus ?? context.serviceStatus,
      })),
      keepError: assign({ error: (_, { error }: TransferFailure | PollResult) => error ?? null }),
    },
    guards: {
      isRequested: ({ context }) => context.analysisId !== null,
      hasToSubmit: ({ context }) => context.shouldSubmit,
      isWorthRepeating: ({ context }, { isDoubtful }: { isDoubtful: boolean }) =>
        isDoubtful && context.draftAttempts < MAX_DRAFT_ATTEMPTS,
      isCompleted: (_, { verdict }: PollResult) => verdict === 'completed',
      isFailed: (_, { verdict }: PollResult) => verdict === 'failed',
    },
  })

/** Whether a draft of our name may be there from an earlier create, and is to be looked for before the next one. */
export function isRepeat({ draftAttempts }: AnalysisContext): boolean {
  return draftAttempts > 1
}

/** The context that an analysis begins with. */
export function beginContext({ analysisId, shouldSubmit = true }: AnalysisMachineInput): AnalysisContext {
  return {
    shouldSubmit,
    segmentIds: null,
    analysisId,
    hasPossibleDraft: false,
    draftAttempts: 0,
    serviceStatus: null,
    error: null,
  }
}
