// The life of one upload session, as a table: creating → uploading ⇄ paused → cancelling → confirmed | partial |
// cancelled | failed | closed. It promises that a session which the service made is never forgotten, that two transfers never
// run at once, and that a final state is entered only after the journal was asked to keep it. For a close, nothing is asked of
// the journal: the session stays as it is, for a later run.
//
// All work is done by actors from outside. The machine never holds an address, a handle or an Error: what is in its context may
// be shown. It is never stored: a later run begins from the journal, through `UploadSessionInput`. There are no timers here, because
// a timer would not outlive a restart; whoever waits is an actor.

import { known } from '../core/errors.ts'
import { beginContext, setUpSession } from './session-setup.ts'
import { failureOf, resultOf } from './setup.ts'

/** What the host asks for, as actions. They are not made by a function: a call would keep the machine in pages that do not use it. */
const run = { type: 'intend', params: { to: 'run' } } as const
const pause = { type: 'intend', params: { to: 'pause' } } as const
const close = { type: 'intend', params: { to: 'close' } } as const
const cancel = { type: 'intend', params: { to: 'cancel' } } as const

const concludeTransfer = { type: 'concludeTransfer', params: resultOf } as const

/** The machine. Its actors are provided with `provide({ actors })`; `setUpSession` says what each of them promises. */
export const uploadSessionMachine = /* @__PURE__ */ setUpSession().createMachine({
  id: 'uploadSession',
  context: ({ input }) => beginContext(input),
  initial: 'deciding',
  states: {
    deciding: {
      // Passed through at once: where the journal left off, what is known since, and what the host wants decide.
      always: [
        { guard: 'isSettled', target: 'settled' },
        { guard: 'isCancelIntended', target: 'cancelling' },
        { guard: 'isCloseIntended', target: 'settling', actions: 'concludeClose' },
        { guard: 'isPauseIntended', target: 'paused' },
        { guard: 'isUncreated', target: 'creating' },
        { target: 'uploading' },
      ],
    },
    creating: {
      // The service is asked for a session. A try under way may finish, whatever the host wants meanwhile, as long as it does
      // not take too long. Between two tries, while a service that cannot be reached is waited for, the call ends at once.
      invoke: {
        src: 'creatingSession',
        onDone: { target: 'deciding', actions: 'keepCreated' },
        onError: [
          {
            guard: 'isCancelIntended',
            target: 'cancelling',
            actions: { type: 'keepError', params: failureOf },
          },
          { target: 'settling', actions: { type: 'concludeFailure', params: failureOf } },
        ],
      },
      always: { guard: 'isIdle', target: 'pausing' },
      exit: 'endWaiting',
      on: {
        'upload.pause': { actions: pause },
        'upload.resume': { actions: run },
        'upload.close': { actions: close },
        'upload.cancel': { actions: cancel },
        'create.late': 'pausing',
        'host.unreachable': { actions: { type: 'keepWaiting', params: ({ event }) => event } },
        'host.reachable': { actions: 'endWaiting' },
      },
    },
    uploading: {
      // Parts are sent and files confirmed.
      invoke: {
        src: 'transferring',
        onDone: { target: 'settling', actions: concludeTransfer },
        onError: { target: 'settling', actions: { type: 'concludeFailure', params: failureOf } },
      },
      exit: 'endWaiting',
      on: {
        'upload.pause': { target: 'pausing', actions: pause },
        'upload.close': { target: 'pausing', actions: close },
        'upload.cancel': { target: 'cancelling', actions: cancel },
        // The transfer goes on by itself as soon as the host can be reached.
        'host.unreachable': { actions: { type: 'keepWaiting', params: ({ event }) => event } },
        'host.reachable': { actions: 'endWaiting' },
      },
    },
    pausing: {
      // The transfer, or the create, was aborted, and its attempts are coming to their end. A resume goes on after that, unless
      // the last answers have settled every file.
      always: { guard: 'isCancelIntended', target: 'cancelling' },
      invoke: {
        src: 'draining',
        input: { reason: 'pause' },
        onDone: [
          { guard: { type: 'isOver', params: resultOf }, target: 'settling', actions: concludeTransfer },
          { target: 'deciding' },
        ],
        // Attempts may still run, so no second transfer may begin in this run.
        onError: { target: 'settling', actions: { type: 'concludeFailure', params: failureOf } },
      },
      on: {
        'upload.pause': { actions: pause },
        'upload.resume': { actions: run },
        'upload.close': { actions: close },
        'upload.cancel': { actions: cancel },
      },
    },
    paused: {
      // Nothing runs, and neither a socket nor a slot is held. The session, if there is one, stays open at the service.
      on: {
        'upload.resume': { target: 'deciding', actions: run },
        'upload.close': { target: 'deciding', actions: close },
        'upload.cancel': { target: 'cancelling', actions: cancel },
      },
    },
    cancelling: {
      // The session is given up. Nothing that the host asks from here on changes that, not even a close: the service is still
      // told.
      initial: 'draining',
      states: {
        draining: {
          // Attempts come to their end first, so that no part arrives after the service was told.
          invoke: {
            src: 'draining',
            input: { reason: 'cancel' },
            onDone: 'telling',
            onError: { target: 'telling', actions: { type: 'keepJournalError', params: failureOf } },
          },
        },
        telling: {
          // The service is told of every session that is known by now, which may be none.
          invoke: {
            src: 'cancellingSession',
            onDone: {
              target: '#uploadSession.settling',
              actions: { type: 'concludeCancel', params: ({ event }) => event.output },
            },
            onError: {
              target: '#uploadSession.settling',
              actions: [
                { type: 'keepError', params: failureOf },
                { type: 'concludeCancel', params: { isServiceTold: false } },
              ],
            },
          },
        },
      },
    },
    settling: {
      // The final status is decided and goes to the journal.
      invoke: {
        src: 'settling',
        input: ({ context }) => ({ status: known(context.status) }),
        onDone: 'settled',
        onError: { target: 'settled', actions: { type: 'keepJournalError', params: failureOf } },
      },
    },
    settled: {
      // Passed through at once: to the final state of the decided status.
      always: [
        { guard: { type: 'isStatus', params: { status: 'confirmed' } }, target: 'confirmed' },
        { guard: { type: 'isStatus', params: { status: 'partial' } }, target: 'partial' },
        { guard: { type: 'isStatus', params: { status: 'cancelled' } }, target: 'cancelled' },
        { guard: { type: 'isStatus', params: { status: 'closed' } }, target: 'closed' },
        { target: 'failed' },
      ],
    },
    // The service has accepted every file.
    confirmed: { type: 'final' },
    // The service has accepted some files, but not all.
    partial: { type: 'final' },
    // Given up as the host asked.
    cancelled: { type: 'final' },
    // Let go with its Uplink: the session is what it was, and a later run goes on from the journal.
    closed: { type: 'final' },
    // The service has accepted no file, as far as is known.
    failed: { type: 'final' },
  },
})
