// The input, context, events and output of the upload-session machine. All of it is plain JSON and may be shown: no address,
// handle or Error object is ever in here.

import type { ErrorSummary } from '../core/errors.ts'
import type { FinalStatus, JournalPlace } from '../core/journal/journal.ts'
import type { Outage } from '../core/ports.ts'

/** What a folded journal says about where to go on. */
export interface UploadSessionInput {
  /** With `creating`, a session may exist. With a final status, nothing is left to do. */
  readonly place: JournalPlace
}

/** What the host wants. A cancel is never taken back; a close gives way only to a cancel. */
export type UploadIntent = 'run' | 'pause' | 'close' | 'cancel'

/** How a session ends here. `closed`: it was let go as it was, and the journal records no end. */
export type EndStatus = FinalStatus | 'closed'

/** The machine's context. Plain JSON throughout. */
export interface UploadSessionContext {
  /** Where the journal left off; `created` as soon as the session is known. */
  readonly place: JournalPlace
  readonly intent: UploadIntent
  /** The final status, as soon as it is decided. */
  readonly status: EndStatus | null
  /** Why the session did not end well. */
  readonly error: ErrorSummary | null
  /** Why a cancel or the final status could not be written to the journal. */
  readonly journalError: ErrorSummary | null
  /** After a cancel: whether the service answered it. Null when there was no cancel. */
  readonly isServiceTold: boolean | null
  /** Set while storage or service cannot be reached. Shown as a state. */
  readonly waiting: Outage | null
}

/**
 * The first four come from the host. `create.late`: a create that was allowed to finish has run out of time. The last two come
 * from the engine's circuit and from calls that wait for the service.
 */
export type UploadSessionEvent =
  | { readonly type: 'upload.pause' }
  | { readonly type: 'upload.resume' }
  | { readonly type: 'upload.cancel' }
  | { readonly type: 'upload.close' }
  | { readonly type: 'create.late' }
  | { readonly type: 'host.unreachable'; readonly outage: Outage }
  | { readonly type: 'host.reachable' }

/** What the drain is for. Before a cancel, it also appends the intent. */
export type DrainReason = 'pause' | 'cancel'
