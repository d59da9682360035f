// What a host holds of an upload: its handle, its events, its report.

import { isUploadError, UploadError, type ErrorSummary, type UploadErrorCode } from '../core/errors.ts'
import type { FlowName } from '../core/journal/journal.ts'
import type { Source } from '../core/ports.ts'
import type { EndStatus } from '../machines/session-data.ts'
import type { Events } from './emitter.ts'
import type { SessionReplaced } from './renewal.ts'
import type { Outage } from './waits.ts'

export type { Outage } from './waits.ts'

/** A source and what belongs to the flow beside it. */
export interface UploadFile {
  readonly source: Source
  /** Frames a second of this clip; at most what the service is told. Default: not sent. */
  readonly frameRate?: number
}

/** How a host lets go of an upload without holding it. */
export interface LettingGo {
  /**
   * Lets go of the upload when it fires, and does not cancel it: attempts end, what is confirmed stays, the session stays in the
   * journal, and `done()` rejects with ERR_UPLOAD_CLOSED when `resume(key)` may go on. Default: none.
   */
  readonly signal?: AbortSignal
}

export type UploadState =
  | 'creating'
  | 'created'
  | 'uploading'
  /** The storage or the service cannot be reached; goes on by itself. */
  | 'waiting'
  | 'pausing'
  | 'paused'
  | 'cancelling'
  | 'settling'
  /** `closed`: let go with its Uplink or by its signal; `resume` goes on with it. */
  | EndStatus

export interface UploadProgress {
  /** Bytes handed to the network that count; falls when an attempt is lost. */
  readonly sentBytes: number
  /** Bytes with a receipt; never falls. */
  readonly confirmedBytes: number
  readonly totalBytes: number
  /** Smoothed over some seconds; 0 until known. */
  readonly bytesPerSecond: number
  /** Undefined until a rate is known. */
  readonly remainingMs: number | undefined
  readonly filesConfirmed: number
  readonly filesFailed: number
  readonly filesTotal: number
}

export interface UploadFileStatus {
  readonly fileIndex: number
  readonly name: string
  readonly bytes: number
  /** Bytes of this file handed to the network that count. */
  readonly sentBytes: number
  readonly confirmedBytes: number
  readonly parts: number
  readonly state: 'pending' | 'uploading' | 'confirming' | 'confirmed' | 'failed'
  readonly error?: ErrorSummary
}

export interface UploadEvents {
  state: { readonly state: UploadState }
  /** At most five a second, and once at the end. */
  progress: UploadProgress
  /**
   * The `state` of a file is another one: its first bytes go out, those of its only part are lost, it is being confirmed, is
   * confirmed or has failed. How far it is, `files()` shows at each `progress`.
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
  /** Told before every try and after it while the state is `waiting`, which a change of the state ends. */
  waiting: Outage
  /** The addresses died, and a new session took the unfinished files: the only event after which confirmed bytes fall. */
  'session.replaced': SessionReplaced
  /** At the present rate the addresses die before all is sent; told once a session. Wall time and durations in ms. */
  shortfall: { readonly deadlineMs: number; readonly neededMs: number; readonly availableMs: number }
  /** Something a person should know that did not stop the upload. */
  warning: { readonly code: UploadErrorCode; readonly message: string }
}

export interface FileReport {
  readonly name: string
  readonly bytes: number
  readonly parts: number
  /** `unfinished`: neither confirmed nor failed when the session ended. */
  readonly status: 'confirmed' | 'failed' | 'unfinished'
  /** Every part's digest was compared with the storage's and was equal. */
  readonly verified: boolean
  readonly error?: ErrorSummary
}

/** What is known of an upload at any time. */
export interface UploadSnapshot {
  readonly flow: FlowName
  /** What `resume` and `cancel` take. */
  readonly key: string
  readonly sessionId: string | number | undefined
  /** Bytes of all files. */
  readonly bytes: number
  readonly durationMs: number
  readonly files: readonly FileReport[]
  /** A create had no clear answer: the service may hold a session that nobody uses. */
  readonly hasPossibleOrphan: boolean
}

/** How an upload ended. */
export interface UploadReport extends UploadSnapshot {
  /** `closed`: it has not ended, it was let go. */
  readonly status: EndStatus
  /** Why the session ended early, when it did. */
  readonly error?: ErrorSummary
  /** After a cancel or a discard: whether the service was told to end a session. Captures have no such call. */
  readonly isServiceTold?: boolean
  /**
   * After a discard: the files whose status is `confirmed` stay with the service, and one whose confirmation was not answered, where it
   * was a yes. Absent where there are none.
   */
  readonly keepsConfirmed?: boolean
}

/** What `done()` rejects with: everything that is known is in `report`. */
export class UploadFailedError extends UploadError {
  readonly report: UploadReport

  constructor(code: UploadErrorCode, message: string, report: UploadReport, cause?: unknown) {
    super(code, message, { cause, details: isUploadError(cause) ? cause.details : {} })
    this.name = 'UploadFailedError'
    this.report = report
  }
}

export interface Upload extends Events<UploadEvents> {
  readonly flow: FlowName
  readonly key: string
  readonly state: UploadState
  progress(): UploadProgress
  /** What a report would say now. */
  snapshot(): UploadSnapshot
  /** Every file in the order given; empty until the sources have been looked at. */
  files(): readonly UploadFileStatus[]
  /**
   * Resolves when the session is confirmed or partial; rejects with an UploadFailedError when it failed, was cancelled, or was let
   * go by `Uplink.close` or its signal. Leaving it unread is no unhandled rejection.
   */
  done(): Promise<UploadReport>
  /** Ends the attempts under way and frees their sockets and slots; the session stays. */
  pause(): void
  resume(): void
  /**
   * Gives the whole upload up, confirmed files too, and tells the service where it has a call for that (captures have none, and
   * stay stored). Settles when all is over, also when it was over already; never rejects.
   */
  cancel(): Promise<UploadReport>
  /**
   * The same, but what is confirmed stays confirmed: the service is told only of sessions that hold no confirmed file. Of discard
   * and cancel the first that is called counts.
   */
  discard(): Promise<UploadReport>
}
