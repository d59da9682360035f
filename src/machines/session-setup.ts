// The vocabulary of an upload session's table: its actors as placeholders, its actions and its guards.

import { assign } from 'xstate'

import { known } from '../core/errors.ts'
import { finalStatusOf } from '../core/journal/fold-journal.ts'
import type { Outage } from '../core/ports.ts'
import type { TransferResult } from '../core/transfer/transfer.ts'
import type { TransferFailure } from './rejection.ts'
import type {
  DrainReason,
  EndStatus,
  UploadSessionInput,
  UploadIntent,
  UploadSessionContext,
  UploadSessionEvent,
} from './session-data.ts'
import { notProvided, setup } from './setup.ts'

/**
 * Five actors are provided from outside. Each gets an AbortSignal that fires when its state is left, and each may run again when the
 * session is taken up later.
 *
 * - `creatingSession` appends the intent, calls, and appends the result. Pause and cancel abort it only between two tries, when
 *   `host.unreachable` has said that it rests, or at `create.late`: otherwise the session that a try makes would be an orphan.
 *   Rejects with a `TransferFailure`. It may have come to its end although it was aborted: then it does nothing when it runs again.
 * - `transferring` sends and confirms whatever the ledger lacks. Rejects with a `TransferFailure` when it cannot go on.
 * - `draining` resolves when no attempt runs any more; the transfer before it has been aborted already. Its output is the result
 *   of the transfer, if the last answers have settled every file. Before a cancel it first appends the intent, so that a crash in
 *   between does not forget what was asked.
 * - `cancellingSession` tells the service, if there is anything to tell, and appends the result. A service that does not answer is an
 *   output (`isServiceTold: false`); a rejection counts as the same, and its error is kept.
 * - `settling` appends the final status, except for `closed`, and closes what is open. When it rejects, the status stands, because it
 *   is true whether or not it could be written, and the output carries `journalError`.
 *
 * A function, so that a page without this machine leaves all of it out.
 */
export const setUpSession = () =>
  setup({
    types: {
      input: {} as UploadSessionInput,
      context: {} as UploadSessionContext,
      events: {} as UploadSessionEvent,
    },
    actors: {
      creatingSession: notProvided<unknown>('creatingSession'),
      transferring: notProvided<TransferResult>('transferring'),
      draining: notProvided<TransferResult | undefined, { reason: DrainReason }>('draining'),
      cancellingSession: notProvided<{ isServiceTold: boolean }>('cancellingSession'),
      settling: notProvided<unknown, { status: EndStatus }>('settling'),
    },
    actions: {
      intend: assign(({ context: { intent } }, { to }: { to: UploadIntent }) => ({
        intent: intent === 'cancel' || (intent === 'close' && to !== 'cancel') ? intent : to,
      })),
      keepCreated: assign({ place: 'created' }),
      keepWaiting: assign({ waiting: (_, { outage }: { outage: Outage }) => outage }),
      endWaiting: assign({ waiting: null }),
      keepError: assign({ error: (_, { error }: TransferFailure) => error }),
      keepJournalError: assign({ journalError: (_, { error }: TransferFailure) => error }),
      concludeTransfer: assign((_, result: TransferResult | undefined) => {
        const { confirmedCount, failedCount } = known(result)
        return { status: failedCount > 0 || confirmedCount === 0 ? statusCutShort(confirmedCount) : 'confirmed' }
      }),
      concludeFailure: assign(({ context }, { error, confirmedCount }: TransferFailure) => {
        // A failure while the session is let go may be due to just that; whoever goes on finds it again.
        if (context.intent === 'close') return { status: 'closed' as const }
        return { error, status: statusCutShort(confirmedCount) }
      }),
      concludeCancel: assign((_, params: { isServiceTold: boolean }) => ({
        isServiceTold: params.isServiceTold,
        status: 'cancelled' as const,
      })),
      concludeClose: assign({ status: 'closed' }),
    },
    guards: {
      isUncreated: ({ context }) => context.place === 'new' || context.place === 'creating',
      isSettled: ({ context }) => context.status !== null,
      isOver: (_, result: TransferResult | undefined) => result !== undefined,
      isIdle: ({ context }) => context.intent !== 'run' && context.waiting?.untilMs !== undefined,
      isPauseIntended: ({ context }) => context.intent === 'pause',
      isCloseIntended: ({ context }) => context.intent === 'close',
      isCancelIntended: ({ context }) => context.intent === 'cancel',
      isStatus: ({ context }, params: { status: EndStatus }) => context.status === params.status,
    },
  })

/** The context that a session begins with. */
export function beginContext(input: UploadSessionInput): UploadSessionContext {
  return {
    place: input.place,
    intent: input.place === 'cancelling' ? 'cancel' : 'run',
    status: finalStatusOf(input.place) ?? null,
    error: null,
    journalError: null,
    isServiceTold: null,
    waiting: null,
  }
}

/** The status of a transfer in which not every file was confirmed. */
function statusCutShort(confirmedCount: number): EndStatus {
  return confirmedCount > 0 ? 'partial' : 'failed'
}
