// The life of one requested analysis, as a table: segments → draft → requested → completed | failed, or drafted,
// deadline, stopped. It promises that a draft whose create had no answer is looked up by name before it is made again.
//
// Nothing here waits: `polling` is one actor that sleeps outside, on a clock of its own. The context is plain JSON.

import { assign, fromPromise, setup } from 'xstate'

import type { ErrorSummary } from '../core/errors.ts'
import { isDoubtful, readRejection } from './rejection.ts'

/** How often a draft is asked for in all, when each create ends without an answer. */
export const MAX_DRAFT_ATTEMPTS = 3

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
  /** Why we could not go on. Null also when the service itself says that the analysis failed. */
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
  readonly serviceStatus: string
  readonly verdict: 'completed' | 'failed' | 'deadline'
}

export interface DraftResult {
  readonly analysisId: string | number
  /** The service's word for it, when the answer had one. */
  readonly serviceStatus?: string
}

type AnalysisId = string | number

const reasonOf = ({ event }: { event: { error: unknown } }) => ({ reason: event.error })
const outputOf = <T>({ event }: { event: { output: T } }) => event.output

const notProvided = (name: string) => (): never => {
  throw new Error(`The actor ${name} was not provided`)
}

/**
 * The machine. Provide four actors with `provide({ actors })`; each gets an AbortSignal that fires when its state is
 * left.
 *
 * - `creatingSegments` creates the segments, or gives back the ids that the host named.
 * - `creatingDraft` creates the analysis as a draft; with `isRepeat` it looks for one of that name first. Rejects with
 *   `details.isDoubtful: true` when the create had no answer: then it is run again, `MAX_DRAFT_ATTEMPTS` times in all.
 * - `submitting` asks the service to begin. Safe to repeat.
 * - `polling` asks for the status until it is final or the deadline has come.
 */
export const analysisMachine = /* @__PURE__ */ setup({
  types: {
    input: {} as AnalysisInput,
    context: {} as AnalysisContext,
    events: {} as AnalysisEvent,
    output: {} as AnalysisOutput,
    tags: {} as 'busy' | 'final',
  },
  actors: {
    creatingSegments: fromPromise<AnalysisSegmentIds>(notProvided('creatingSegments')),
    creatingDraft: fromPromise<DraftResult, { segmentIds: AnalysisSegmentIds; isRepeat: boolean }>(
      notProvided('creatingDraft'),
    ),
    submitting: fromPromise<{ serviceStatus?: string }, { analysisId: AnalysisId }>(notProvided('submitting')),
    polling: fromPromise<PollResult, { analysisId: AnalysisId }>(notProvided('polling')),
  },
  actions: {
    keepSegments: assign({ segmentIds: (_, params: AnalysisSegmentIds) => params }),
    countDraftAttempt: assign(({ context }) => ({
      draftAttempts: context.draftAttempts + 1,
      hasPossibleDraft: true,
    })),
    keepDraft: assign((_, params: DraftResult) => ({ analysisId: params.analysisId, hasPossibleDraft: false })),
    // A refusal says that this create made nothing. It says nothing of an earlier one.
    keepDraftDoubt: assign(({ context }, params: { reason: unknown }) => ({
      hasPossibleDraft: isDoubtful(params.reason) || context.isRepeat,
    })),
    lookFirst: assign({ isRepeat: true }),
    keepServiceStatus: assign(({ context }, params: { serviceStatus?: string }) => ({
      serviceStatus: params.serviceStatus ?? context.serviceStatus,
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
    hasVerdict: (_, params: { found: PollResult['verdict']; wanted: PollResult['verdict'] }) =>
      params.found === params.wanted,
  },
}).createMachine({
  id: 'analysis',
  context: ({ input }) => ({
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
  }),
  output: ({ context }) => ({
    status: decidedStatus(context),
    segmentIds: context.segmentIds,
    analysisId: context.analysisId,
    hasPossibleDraft: context.hasPossibleDraft,
    serviceStatus: context.serviceStatus,
    error: context.error,
  }),
  initial: 'starting',
  states: {
    starting: {
      // Passed through at once: goes on from what is known.
      always: [
        { guard: 'isRequested', target: 'requested' },
        { guard: 'isDraft', target: 'draft' },
        { target: 'creatingSegments' },
      ],
    },
    creatingSegments: {
      // The sets of movements are made at the service.
      tags: 'busy',
      invoke: {
        id: 'creatingSegments',
        src: 'creatingSegments',
        onDone: { target: 'creatingDraft', actions: { type: 'keepSegments', params: outputOf } },
        onError: { target: 'failed', actions: { type: 'keepError', params: reasonOf } },
      },
      on: { 'analysis.stop': 'stopped' },
    },
    creatingDraft: {
      // The analysis is made as a draft; after a create without an answer it is looked up first.
      tags: 'busy',
      entry: 'countDraftAttempt',
      invoke: {
        id: 'creatingDraft',
        src: 'creatingDraft',
        input: ({ context }) => ({ segmentIds: knownSegments(context), isRepeat: context.isRepeat }),
        onDone: {
          target: 'draft',
          actions: [
            { type: 'keepDraft', params: outputOf },
            { type: 'keepServiceStatus', params: outputOf },
          ],
        },
        onError: [
          {
            guard: { type: 'isWorthRepeating', params: reasonOf },
            target: 'creatingDraft',
            reenter: true,
            actions: 'lookFirst',
          },
          {
            target: 'failed',
            actions: [
              { type: 'keepDraftDoubt', params: reasonOf },
              { type: 'keepError', params: reasonOf },
            ],
          },
        ],
      },
      on: { 'analysis.stop': 'stopped' },
    },
    draft: {
      // Passed through at once: the draft is known, and what the host wants decides.
      always: [{ guard: 'hasToSubmit', target: 'submitting' }, { target: 'drafted' }],
    },
    submitting: {
      // The service is asked to begin.
      tags: 'busy',
      invoke: {
        id: 'submitting',
        src: 'submitting',
        input: ({ context }) => ({ analysisId: knownAnalysis(context) }),
        onDone: { target: 'requested', actions: { type: 'keepServiceStatus', params: outputOf } },
        onError: { target: 'failed', actions: { type: 'keepError', params: reasonOf } },
      },
      on: { 'analysis.stop': 'stopped' },
    },
    requested: {
      // The service works on it; it is asked politely now and then.
      tags: 'busy',
      invoke: {
        id: 'polling',
        src: 'polling',
        input: ({ context }) => ({ analysisId: knownAnalysis(context) }),
        onDone: [
          {
            guard: {
              type: 'hasVerdict',
              params: ({ event }) => ({ found: event.output.verdict, wanted: 'completed' }),
            },
            target: 'completed',
            actions: { type: 'keepServiceStatus', params: outputOf },
          },
          {
            guard: { type: 'hasVerdict', params: ({ event }) => ({ found: event.output.verdict, wanted: 'failed' }) },
            target: 'failed',
            actions: { type: 'keepServiceStatus', params: outputOf },
          },
          { target: 'deadline', actions: { type: 'keepServiceStatus', params: outputOf } },
        ],
        onError: { target: 'failed', actions: { type: 'keepError', params: reasonOf } },
      },
      on: {
        'analysis.status': { actions: { type: 'keepServiceStatus', params: ({ event }) => event } },
        'analysis.stop': 'stopped',
      },
    },
    drafted: {
      // A draft, as the host asked; not submitted.
      type: 'final',
      tags: 'final',
      entry: { type: 'conclude', params: { status: 'drafted' } },
    },
    completed: {
      // The service says that it is done.
      type: 'final',
      tags: 'final',
      entry: { type: 'conclude', params: { status: 'completed' } },
    },
    failed: {
      // The service says so, or we could not go on: see `error`.
      type: 'final',
      tags: 'final',
      entry: { type: 'conclude', params: { status: 'failed' } },
    },
    deadline: {
      // Not done in the time given; the last word is kept.
      type: 'final',
      tags: 'final',
      entry: { type: 'conclude', params: { status: 'deadline' } },
    },
    stopped: {
      // The host asked us to stop; the service goes on.
      type: 'final',
      tags: 'final',
      entry: { type: 'conclude', params: { status: 'stopped' } },
    },
  },
})

function knownSegments({ segmentIds }: AnalysisContext): AnalysisSegmentIds {
  if (segmentIds === null) throw new Error('The segments are used before they are known')
  return segmentIds
}

function knownAnalysis({ analysisId }: AnalysisContext): AnalysisId {
  if (analysisId === null) throw new Error('The analysis is used before it is known')
  return analysisId
}

function decidedStatus({ status }: AnalysisContext): AnalysisStatus {
  if (status === null) throw new Error('The analysis has ended without a status')
  return status
}
