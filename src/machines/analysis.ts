// The life of one requested analysis, as a table: segments → draft → requested → completed | failed, or drafted, deadline,
// stopped. It promises that a draft whose create had no answer is looked up by name before it is created again.
//
// Nothing here waits: `polling` is one actor that sleeps outside, on a clock of its own. The context is plain JSON.

import { known, wasDoubtful } from '../core/errors.ts'
import { beginContext, isRepeat, setUpAnalysis } from './analysis-setup.ts'
import { failureOf, resultOf } from './setup.ts'

/** The machine. Its actors are provided with `provide({ actors })`; `setUpAnalysis` says what each of them promises. */
export const analysisMachine = /* @__PURE__ */ setUpAnalysis().createMachine({
  id: 'analysis',
  context: ({ input }) => beginContext(input),
  initial: 'starting',
  states: {
    starting: {
      // Passed through at once: goes on from what is known.
      always: [{ guard: 'isRequested', target: 'requested' }, { target: 'creatingSegments' }],
    },
    creatingSegments: {
      // The segments, which are sets of movements, are created at the service.
      invoke: {
        src: 'creatingSegments',
        onDone: { target: 'creatingDraft', actions: { type: 'keepSegments', params: resultOf } },
        onError: { target: 'failed', actions: { type: 'keepError', params: failureOf } },
      },
      on: { 'analysis.stop': 'stopped' },
    },
    creatingDraft: {
      // The analysis is created as a draft. After a create without an answer, it is looked up first.
      entry: 'countDraftAttempt',
      invoke: {
        src: 'creatingDraft',
        input: ({ context }) => ({ segmentIds: known(context.segmentIds), isRepeat: isRepeat(context) }),
        onDone: {
          target: 'draft',
          actions: [
            { type: 'keepDraft', params: resultOf },
            { type: 'keepServiceStatus', params: resultOf },
          ],
        },
        onError: [
          {
            guard: { type: 'isWorthRepeating', params: ({ event }) => ({ isDoubtful: wasDoubtful(event.error) }) },
            target: 'creatingDraft',
            reenter: true,
          },
          {
            target: 'failed',
            actions: [
              { type: 'keepDraftDoubt', params: failureOf },
              { type: 'keepError', params: failureOf },
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
      invoke: {
        src: 'submitting',
        input: ({ context }) => ({ analysisId: known(context.analysisId) }),
        onDone: { target: 'requested', actions: { type: 'keepServiceStatus', params: resultOf } },
        onError: { target: 'failed', actions: { type: 'keepError', params: failureOf } },
      },
      on: { 'analysis.stop': 'stopped' },
    },
    requested: {
      // The service works on it and is polled at polite intervals.
      invoke: {
        src: 'polling',
        input: ({ context }) => ({ analysisId: known(context.analysisId) }),
        onDone: [
          { guard: { type: 'isCompleted', params: resultOf }, target: 'completed' },
          { guard: { type: 'isFailed', params: resultOf }, target: 'failed' },
          { target: 'deadline', actions: { type: 'keepError', params: resultOf } },
        ],
        onError: { target: 'failed', actions: { type: 'keepError', params: failureOf } },
      },
      on: {
        'analysis.status': { actions: { type: 'keepServiceStatus', params: ({ event }) => event } },
        'analysis.stop': 'stopped',
      },
    },
    drafted: {
      // It stays a draft, as the host asked, and is not submitted.
      type: 'final',
    },
    completed: {
      // The service says that it is done.
      type: 'final',
    },
    failed: {
      // The service says that it failed, or we could not go on: see `error`.
      type: 'final',
    },
    deadline: {
      // It was not done in the time given. The service's last word is kept.
      type: 'final',
    },
    stopped: {
      // The host asked us to stop; the service goes on.
      type: 'final',
    },
  },
})
