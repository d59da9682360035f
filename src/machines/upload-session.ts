// The life of one upload session, as a table: creating → created → uploading ⇄ paused → cancelling → confirmed |
// partial | cancelled | failed. It promises that a session which the service made is never forgotten, that two
// transfers never run at once, and that a final state is entered only after the journal was asked to keep it.
//
// Everything that works is an actor from outside. The machine never holds an address, a handle or an Error: what is in
// its context may be shown. It is never stored: a later life begins from the journal, through `MachineInput`.
// There are no timers here, because a timer would not outlive a restart; whoever waits is an actor.

import { assign, fromPromise, setup } from 'xstate'

import type { ErrorSummary } from '../core/errors.ts'
import type { FinalStatus } from '../core/journal.ts'
import { readRejection, type TransferResult } from './rejection.ts'
import type {
  DrainReason,
  MachineInput,
  UploadSessionContext,
  UploadSessionEvent,
  UploadSessionInput,
  UploadSessionOutput,
} from './session-data.ts'

export type { MachineInput, UploadSessionInput } from './session-data.ts'

type SessionId = string | number

const reasonOf = ({ event }: { event: { error: unknown } }) => ({ reason: event.error })

const notProvided = (name: string) => (): never => {
  throw new Error(`The actor ${name} was not provided`)
}

/**
 * The machine. Provide five actors with `provide({ actors })`; each gets an AbortSignal that fires when its state is
 * left, and each may run again in a later life.
 *
 * - `creatingSession` appends the intent, calls, appends the result. With `isRepeat` an earlier create may have left a
 *   session behind. It is never aborted by pause or cancel: the session it makes would be an orphan.
 * - `transferring` sends and confirms whatever the ledger lacks. Rejects with a `TransferFailure` when it cannot go on.
 * - `draining` resolves when no attempt runs any more; the transfer before it has been aborted already. Before a
 *   cancel it first appends the intent, so that a death in between does not forget what was asked.
 * - `cancellingSession` tells the service and appends the result. A service that does not answer is an output
 *   (`isServiceTold: false`); a rejection is taken for one and its error kept.
 * - `settling` appends the final status and closes what is open. When it rejects, the status stands, because it is
 *   true whether or not it could be written, and the output carries `journalError`.
 */
export const uploadSessionMachine = /* @__PURE__ */ setup({
  types: {
    input: {} as UploadSessionInput,
    context: {} as UploadSessionContext,
    events: {} as UploadSessionEvent,
    output: {} as UploadSessionOutput,
    tags: {} as 'busy' | 'resumable' | 'final',
  },
  actors: {
    creatingSession: fromPromise<{ sessionId: SessionId }, { key: string; isRepeat: boolean }>(
      notProvided('creatingSession'),
    ),
    transferring: fromPromise<TransferResult, { key: string; sessionId: SessionId }>(notProvided('transferring')),
    draining: fromPromise<unknown, { key: string; reason: DrainReason }>(notProvided('draining')),
    cancellingSession: fromPromise<{ isServiceTold: boolean }, { key: string }>(notProvided('cancellingSession')),
    settling: fromPromise<unknown, { key: string; status: FinalStatus; error: ErrorSummary | null }>(
      notProvided('settling'),
    ),
  },
  actions: {
    intendRun: assign({ intent: 'run' }),
    intendPause: assign({ intent: 'pause' }),
    intendCancel: assign({ intent: 'cancel' }),
    noteIgnoredRequest: assign({ hasIgnoredRequest: true }),
    keepSession: assign({ sessionId: (_, params: { sessionId: SessionId }) => params.sessionId }),
    keepWaiting: assign({
      waiting: (_, { sinceMs, untilMs }: { sinceMs: number; untilMs: number }) => ({ sinceMs, untilMs }),
    }),
    endWaiting: assign({ waiting: null }),
    keepError: assign({ error: (_, params: { reason: unknown }) => readRejection(params.reason).error }),
    keepJournalError: assign({ journalError: (_, params: { reason: unknown }) => readRejection(params.reason).error }),
    concludeTransfer: assign((_, { confirmedCount, failedCount }: TransferResult) => ({
      outcome: { confirmedCount, failedCount },
      status: failedCount > 0 || confirmedCount === 0 ? statusCutShort(confirmedCount) : 'confirmed',
    })),
    concludeFailure: assign((_, params: { reason: unknown }) => {
      const { error, outcome } = readRejection(params.reason)
      return { error, outcome, status: statusCutShort(outcome?.confirmedCount ?? 0) }
    }),
    concludeCancel: assign((_, params: { isServiceTold: boolean }) => ({
      isServiceTold: params.isServiceTold,
      status: 'cancelled' as const,
    })),
    concludeFromJournal: assign({ status: ({ context }) => finalStatusOf(context.place) }),
    refuseJournal: assign({
      status: 'failed',
      error: {
        code: 'ERR_UPLOAD_JOURNAL',
        message: 'The journal says that the session was created and does not name it, so it cannot be resumed.',
      },
    }),
  },
  guards: {
    isUncreated: ({ context }) => context.place === 'new' || context.place === 'creating',
    isBeingCancelled: ({ context }) => context.place === 'cancelling',
    isSettled: ({ context }) => finalStatusOf(context.place) !== null,
    hasSession: ({ context }) => context.sessionId !== null,
    isRunIntended: ({ context }) => context.intent === 'run',
    isPauseIntended: ({ context }) => context.intent === 'pause',
    isCancelIntended: ({ context }) => context.intent === 'cancel',
    isStatus: ({ context }, params: { status: FinalStatus }) => context.status === params.status,
  },
}).createMachine({
  id: 'uploadSession',
  context: ({ input }) => ({
    key: input.key,
    flow: input.flow,
    place: input.place,
    sessionId: input.sessionId ?? null,
    intent: input.place === 'cancelling' ? 'cancel' : 'run',
    outcome: null,
    status: null,
    error: null,
    journalError: null,
    isServiceTold: null,
    waiting: null,
    hasIgnoredRequest: false,
  }),
  output: ({ context }) => ({
    status: decidedStatus(context),
    sessionId: context.sessionId,
    outcome: context.outcome,
    error: context.error,
    journalError: context.journalError,
    isServiceTold: context.isServiceTold,
  }),
  initial: 'starting',
  states: {
    starting: {
      // Passed through at once: goes on where the journal left off.
      always: [
        { guard: 'isSettled', target: 'settled', actions: 'concludeFromJournal' },
        { guard: 'isUncreated', target: 'creating' },
        { guard: 'isBeingCancelled', target: 'cancelling' },
        { guard: 'hasSession', target: 'created' },
        { target: 'settling', actions: 'refuseJournal' },
      ],
    },
    creating: {
      // The service is asked for a session. The call is let finish, whatever the host wants meanwhile.
      tags: 'busy',
      invoke: {
        id: 'creatingSession',
        src: 'creatingSession',
        input: ({ context }) => ({ key: context.key, isRepeat: context.place === 'creating' }),
        onDone: { target: 'created', actions: { type: 'keepSession', params: ({ event }) => event.output } },
        onError: [
          {
            guard: 'isCancelIntended',
            target: 'settling',
            actions: [
              { type: 'keepError', params: reasonOf },
              { type: 'concludeCancel', params: { isServiceTold: false } },
            ],
          },
          {
            target: 'settling',
            actions: { type: 'concludeFailure', params: reasonOf },
          },
        ],
      },
      on: {
        'upload.pause': [{ guard: 'isCancelIntended', actions: 'noteIgnoredRequest' }, { actions: 'intendPause' }],
        'upload.resume': {
          guard: 'isPauseIntended',
          actions: 'intendRun',
        },
        'upload.cancel': { actions: 'intendCancel' },
      },
    },
    created: {
      // Passed through at once: the session is known, and what the host wants decides.
      always: [
        { guard: 'isCancelIntended', target: 'cancelling' },
        { guard: 'isPauseIntended', target: 'paused' },
        { target: 'uploading' },
      ],
    },
    uploading: {
      // Parts are sent and files confirmed.
      tags: 'busy',
      invoke: {
        id: 'transferring',
        src: 'transferring',
        input: ({ context }) => ({ key: context.key, sessionId: knownSession(context) }),
        onDone: { target: 'settling', actions: { type: 'concludeTransfer', params: ({ event }) => event.output } },
        onError: {
          target: 'settling',
          actions: { type: 'concludeFailure', params: reasonOf },
        },
      },
      exit: 'endWaiting',
      on: {
        'upload.pause': { target: 'pausing', actions: 'intendPause' },
        'upload.cancel': { target: 'cancelling', actions: 'intendCancel' },
      },
      initial: 'sending',
      states: {
        sending: {
          // The host answers, as far as is known.
          on: {
            'host.unreachable': { target: 'waiting', actions: { type: 'keepWaiting', params: ({ event }) => event } },
          },
        },
        waiting: {
          // The host cannot be reached. The transfer goes on by itself as soon as it can be.
          on: {
            'host.unreachable': { actions: { type: 'keepWaiting', params: ({ event }) => event } },
            'host.reachable': { target: 'sending', actions: 'endWaiting' },
          },
        },
      },
    },
    pausing: {
      // The transfer was aborted and its attempts come to their end. A resume goes on after that.
      tags: ['busy', 'resumable'],
      invoke: {
        id: 'drainingToPause',
        src: 'draining',
        input: ({ context }) => ({ key: context.key, reason: 'pause' }),
        onDone: [{ guard: 'isRunIntended', target: 'uploading' }, { target: 'paused' }],
        // Attempts may still run, so a second transfer must not begin in this life.
        onError: {
          target: 'settling',
          actions: { type: 'concludeFailure', params: reasonOf },
        },
      },
      on: {
        'upload.pause': { actions: 'intendPause' },
        'upload.resume': { actions: 'intendRun' },
        'upload.cancel': { target: 'cancelling', actions: 'intendCancel' },
      },
    },
    paused: {
      // Nothing runs: no socket and no slot is held. The session stays open at the service.
      tags: 'resumable',
      on: {
        'upload.pause': { actions: 'intendPause' },
        'upload.resume': { target: 'uploading', actions: 'intendRun' },
        'upload.cancel': { target: 'cancelling', actions: 'intendCancel' },
      },
    },
    cancelling: {
      // The session is given up. What the host asks from here on changes nothing.
      tags: 'busy',
      on: {
        'upload.pause': { actions: 'noteIgnoredRequest' },
        'upload.cancel': { actions: 'noteIgnoredRequest' },
      },
      initial: 'draining',
      states: {
        draining: {
          // Attempts come to their end first, so that no part arrives after the service was told.
          invoke: {
            // Not the id of the other drain: an end of that one must never be taken for the end of this one.
            id: 'drainingToCancel',
            src: 'draining',
            input: ({ context }) => ({ key: context.key, reason: 'cancel' }),
            onDone: 'drained',
            onError: {
              target: 'drained',
              actions: { type: 'keepError', params: reasonOf },
            },
          },
        },
        drained: {
          // Passed through at once: there is only something to tell when a session is known.
          always: [
            { guard: 'hasSession', target: 'telling' },
            {
              target: '#uploadSession.settling',
              actions: { type: 'concludeCancel', params: { isServiceTold: false } },
            },
          ],
        },
        telling: {
          // The service is told.
          invoke: {
            id: 'cancellingSession',
            src: 'cancellingSession',
            input: ({ context }) => ({ key: context.key }),
            onDone: {
              target: '#uploadSession.settling',
              actions: { type: 'concludeCancel', params: ({ event }) => event.output },
            },
            onError: {
              target: '#uploadSession.settling',
              actions: [
                { type: 'keepError', params: reasonOf },
                { type: 'concludeCancel', params: { isServiceTold: false } },
              ],
            },
          },
        },
      },
    },
    settling: {
      // The final status is decided and goes to the journal.
      tags: 'busy',
      invoke: {
        id: 'settling',
        src: 'settling',
        input: ({ context }) => ({ key: context.key, status: decidedStatus(context), error: context.error }),
        onDone: 'settled',
        onError: {
          target: 'settled',
          actions: { type: 'keepJournalError', params: reasonOf },
        },
      },
      on: {
        'upload.pause': { actions: 'noteIgnoredRequest' },
        'upload.cancel': { actions: 'noteIgnoredRequest' },
      },
    },
    settled: {
      // Passed through at once: to the final state of the decided status.
      always: [
        { guard: { type: 'isStatus', params: { status: 'confirmed' } }, target: 'confirmed' },
        { guard: { type: 'isStatus', params: { status: 'partial' } }, target: 'partial' },
        { guard: { type: 'isStatus', params: { status: 'cancelled' } }, target: 'cancelled' },
        { target: 'failed' },
      ],
    },
    // The service has accepted every file.
    confirmed: { type: 'final', tags: 'final' },
    // The service has accepted some files and not all.
    partial: { type: 'final', tags: 'final' },
    // Given up as the host asked.
    cancelled: { type: 'final', tags: 'final' },
    // The service has accepted no file, as far as is known.
    failed: { type: 'final', tags: 'final' },
  },
})

/** The status of a transfer that did not bring every file home. */
function statusCutShort(confirmedCount: number): FinalStatus {
  return confirmedCount > 0 ? 'partial' : 'failed'
}

function finalStatusOf(place: MachineInput['place']): FinalStatus | null {
  return place === 'new' || place === 'creating' || place === 'created' || place === 'cancelling' ? null : place
}

function knownSession({ sessionId }: UploadSessionContext): SessionId {
  if (sessionId === null) throw new Error('The session is used before it is known')
  return sessionId
}

function decidedStatus({ status }: UploadSessionContext): FinalStatus {
  if (status === null) throw new Error('The session is settled before its status is decided')
  return status
}
