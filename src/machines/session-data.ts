// What the upload-session machine is told, what it holds and what it gives back. All of it is plain JSON and may be
// shown: no address, handle or Error object is ever in here.

import type { ErrorSummary } from '../core/errors.ts'
import type { FinalStatus } from '../core/journal/journal.ts'

/** What a folded journal says about where to go on. */
export interface MachineInput {
  /**
   * `new`: no create was begun. `creating`: one was begun and its result is not known, so a session may exist.
   * `created`: the session is known. `cancelling`: it was being given up. A final status: nothing is left to do.
   */
  readonly place: 'new' | 'creating' | 'created' | 'cancelling' | FinalStatus
  /** The service's id as it came; present from `created` on. */
  readonly sessionId?: string | number | undefined
}

/** What the host wants. A cancel is never taken back, and a close only by a cancel. */
export type UploadIntent = 'run' | 'pause' | 'close' | 'cancel'

/** How a session ends here. `closed`: it was let go as it was, and the journal knows of no end. */
export type EndStatus = FinalStatus | 'closed'

/** Plain JSON throughout. */
export interface UploadSessionContext {
  /** Where the journal left off, and `created` as soon as the session is known: until then `sessionId` is one that was left. */
  readonly place: MachineInput['place']
  readonly sessionId: string | number | null
  readonly intent: UploadIntent
  /** The final status as soon as it is decided. */
  readonly status: EndStatus | null
  /** Why the session did not end well. */
  readonly error: ErrorSummary | null
  /** Why the journal does not hold the final status, when it could not be written. */
  readonly journalError: ErrorSummary | null
  /** After a cancel: whether the service has answered it. Null when there was none. */
  readonly isServiceTold: boolean | null
  /** While storage or service cannot be reached: whether it is tried just now. Shown as a state. */
  readonly waiting: { readonly isTried: boolean } | null
}

/**
 * The first four come from the host. `create.late`: a create that was let finish has had its time. The last two come from the
 * engine's circuit and from calls that wait for the service.
 */
export type UploadSessionEvent =
  | { readonly type: 'upload.pause' }
  | { readonly type: 'upload.resume' }
  | { readonly type: 'upload.cancel' }
  | { readonly type: 'upload.close' }
  | { readonly type: 'create.late' }
  | { readonly type: 'host.unreachable'; readonly isTried: boolean }
  | { readonly type: 'host.reachable' }

/** What `done` is made from. */
export interface UploadSessionOutput {
  readonly status: EndStatus
  readonly error: ErrorSummary | null
  readonly journalError: ErrorSummary | null
  readonly isServiceTold: boolean | null
}

/** What the drain is for. Before a cancel, doubtful answers are waited for a bounded time. */
export type DrainReason = 'pause' | 'cancel'
