// What a host holds of an upload: its handle, its events and its report.

import { isUploadError, UploadError, type ErrorSummary, type UploadErrorCode } from '../core/errors.ts'
import type { FlowName } from '../core/journal/journal.ts'
import type { Outage } from '../core/ports.ts'
import type { EndStatus } from '../machines/session-data.ts'
import type { Events } from './emitter.ts'
import type { SessionReplaced } from './renewal.ts'

export type { Outage } from '../core/ports.ts'

/** What an upload is doing, or how it ended. */
export type UploadState =
  | 'creating'
  | 'uploading'
  /** The storage or the service is unreachable. The upload continues by itself. */
  | 'waiting'
  | 'pausing'
  | 'paused'
  | 'cancelling'
  | 'settling'
  /** `closed`: let go by its Uplink or its signal; `resume` continues it. */
  | EndStatus

/** How far all files of an upload are together. Sizes in bytes. */
export interface UploadProgress {
  /** Bytes handed to the network, without those of lost attempts; falls when an attempt is lost. */
  readonly sentBytes: number
  /** Bytes with a receipt; falls only with `session.replaced`. */
  readonly confirmedBytes: number
  /** Total size of all files. */
  readonly totalBytes: number
  /** Bytes handed to the network in a second, smoothed over some seconds; 0 until known. */
  readonly bytesPerSecond: number
  /** Time until everything is sent at this rate, ms; 0 once it is, while answers may still be awaited. Undefined until a rate is known. */
  readonly remainingMs: number | undefined
  readonly filesConfirmed: number
  readonly filesFailed: number
  readonly filesTotal: number
}

/** A file of an upload as it is now. */
export interface UploadFileStatus {
  /** Its place in the list of files, from 0. */
  readonly fileIndex: number
  /** The name under which the service knows it. */
  readonly name: string
  /** Its size. */
  readonly bytes: number
  /** Bytes of this file handed to the network, without those of lost attempts. */
  readonly sentBytes: number
  /** Bytes of its parts that have a receipt. */
  readonly confirmedBytes: number
  /** How many parts it is cut into, at least 1. */
  readonly parts: number
  /** `confirming`: all its bytes have receipts, and the service is asked to confirm it. */
  readonly state: 'pending' | 'uploading' | 'confirming' | 'confirmed' | 'failed'
  /** Why it has failed. Absent in every other state. */
  readonly error?: ErrorSummary
}

/** What `on` takes: each event with its payload. Listeners are called synchronously; one that throws or rejects harms nothing. */
export interface UploadEvents {
  state: { readonly state: UploadState }
  /** At most five a second, and once at the end. */
  progress: UploadProgress
  /**
   * A file's `state` has changed: its first bytes go out, the bytes of its only part are lost, or it is being confirmed, is
   * confirmed or has failed. For its progress, call `files()` at each `progress` event.
   */
  file: UploadFileStatus
  /** An attempt failed and will be repeated. */
  retry: {
    readonly fileIndex: number
    readonly name: string
    readonly partNumber: number
    readonly attempt: number
    readonly delayMs: number
    readonly error: ErrorSummary
  }
  /** Emitted before and after every try while the state is `waiting`. A change of state ends it. */
  waiting: Outage
  /** The addresses died and a new session took the unfinished files. Confirmed bytes fall after this event only. */
  'session.replaced': SessionReplaced
  /** At the present rate the addresses die before everything is sent. Once a session; wall time and durations in ms. */
  shortfall: { readonly deadlineMs: number; readonly neededMs: number; readonly availableMs: number }
  /** Something a person should know that did not stop the upload. */
  warning: ErrorSummary
}

/** What became of a file. */
export interface FileReport {
  /** The name under which the service knows it. */
  readonly name: string
  /** Its size. */
  readonly bytes: number
  /** How many parts it was cut into, at least 1. */
  readonly parts: number
  /** `unfinished`: neither confirmed nor failed when the session ended. */
  readonly status: 'confirmed' | 'failed' | 'unfinished'
  /** Whether every part's digest was compared with the storage's and was equal. */
  readonly verified: boolean
  readonly error?: ErrorSummary
}

/** What is known of an upload at any time. */
export interface UploadSnapshot {
  readonly flow: FlowName
  /** The key of the session in the journal, for `resume`, `receipt`, `discardSession`, `cancelSession` and `forgetSession`. */
  readonly key: string
  /** The service's id of the session. Undefined until one was created. */
  readonly sessionId: string | number | undefined
  /** Total size of all files. */
  readonly bytes: number
  readonly durationMs: number
  readonly files: readonly FileReport[]
  /** A create had no clear answer, so the service may hold a session that nobody uses. */
  readonly hasPossibleOrphan: boolean
}

/** How an upload ended. */
export interface UploadReport extends UploadSnapshot {
  /** `closed`: the upload has not ended but was let go. */
  readonly status: EndStatus
  /**
   * Why the session ended early, if it did. After a cancel, ERR_UPLOAD_JOURNAL means that it could not be recorded: the session
   * may be open to a `resume`. Repeat the cancel with `cancelSession` or `discardSession`.
   */
  readonly error?: ErrorSummary
  /** After a cancel or a discard: whether the service was told to end a session. Captures have no such call. */
  readonly isServiceTold?: boolean
  /**
   * After a discard: files with the status `confirmed` stay with the service, and so does a file whose confirmation was accepted
   * without its answer reaching us. Absent where there are none.
   */
  readonly keepsConfirmed?: boolean
}

/** What `done()` rejects with. Everything that is known is in `report`. */
export class UploadFailedError extends UploadError {
  readonly report: UploadReport

  /** `details`: where it happened, if `cause` does not say. Default: none. */
  constructor(
    code: UploadErrorCode,
    message: string,
    report: UploadReport,
    cause?: unknown,
    details: UploadError['details'] = {},
  ) {
    super(code, message, { cause, details: isUploadError(cause) ? cause.details : details })
    this.name = 'UploadFailedError'
    this.report = report
  }
}

/** An upload under way or over. It goes on whether or not anybody holds this object. */
export interface Upload extends Events<UploadEvents> {
  readonly flow: FlowName
  /** The key of its session in the journal, for `resume` and the other verbs of an Uplink that take one. */
  readonly key: string
  readonly state: UploadState
  progress(): UploadProgress
  /** What a report would say now. */
  snapshot(): UploadSnapshot
  /** Every file in the order given. Empty until the sources have been looked at. */
  files(): readonly UploadFileStatus[]
  /**
   * Resolves when the session is confirmed or partial. Rejects with an UploadFailedError when it failed, was cancelled, or was let
   * go by `Uplink.close` or its signal. If you never read it, that causes no unhandled rejection.
   */
  done(): Promise<UploadReport>
  /**
   * Ends the attempts under way and frees their sockets and slots. The session stays. Returns at once: the state is `pausing` until
   * the attempts have ended, then `paused`. Bytes of parts that were on their way are sent again. Does nothing once the upload is over.
   */
  pause(): void
  /**
   * Continues after `pause`. Does nothing if the upload is neither pausing nor paused; to go on with one that is over, call
   * `Uplink.resume(key)`.
   */
  resume(): void
  /**
   * Gives up the whole upload, confirmed files included, and tells the service where it has a call for that. Captures have none and
   * stay stored. A part that was sent whole may be stored later, whatever the service was told. Settles when everything is over, at
   * once if it was over already; never rejects.
   */
  cancel(): Promise<UploadReport>
  /**
   * Like `cancel`, but confirmed files stay: the service is told only about sessions that hold none. If both are called, the first
   * counts.
   */
  discard(): Promise<UploadReport>
}
