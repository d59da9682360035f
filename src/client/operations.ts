// What the service can be asked: every operation of the interface as one typed method, and `call` for all others.

import type { OnWaiting } from '../core/ports.ts'
import type { Query } from './base-url.ts'
import type {
  AnalysisInput,
  ConfirmFileInput,
  MocapSession,
  MocapSessionInput,
  RegisterFilesInput,
  RequestedAnalysis,
  Segment,
  SegmentInput,
  ServiceId,
  VideoUpload,
  VideoUploadInput,
  WireObject,
} from './contract.ts'

export interface CallOptions {
  /** Ends the call at once, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called when the signal has ended the call and no try can have been heard: the reason itself cannot say so. */
  readonly onUnheard?: (() => void) | undefined
  /**
   * Called without a wait as each try begins. Called with one after each failed try, once the answer has been missing
   * for two seconds, or at once if this machine is offline. A failure of its own is ignored.
   */
  readonly onWaiting?: OnWaiting | undefined
}

/** Options for an operation whose path the interface does not show. */
export interface FreeCallOptions extends CallOptions {
  /** Sent as JSON. Default: no body. */
  readonly data?: unknown
  readonly query?: Query | undefined
}

/** A list as far as it is understood. `raw` is the whole reply, including what it may say of further pages. */
export interface ListReply<TItem> {
  readonly items: readonly TItem[]
  readonly raw: unknown
}

/**
 * The typed client of the service. Every method rejects with ERR_UPLOAD_INVALID_ARGUMENT before any call is made, with
 * what the service's answer means (ERR_UPLOAD_CREDENTIALS_REFUSED, ERR_UPLOAD_SERVICE_REFUSED, ERR_UPLOAD_SERVICE_REPLY,
 * ERR_UPLOAD_REDIRECT_REFUSED, ERR_UPLOAD_HTTP_STATUS), with ERR_UPLOAD_RETRIES_EXHAUSTED or
 * ERR_UPLOAD_HOST_UNREACHABLE at the end of its tries, with ERR_UPLOAD_NETWORK or ERR_UPLOAD_TIMEOUT where it must not
 * try again or nobody gave the credential, in a page with ERR_UPLOAD_ANSWER_HIDDEN, or with the signal's reason, which
 * of an Uplink that was closed is ERR_UPLOAD_CLOSED. `details.isDoubtful` is true if the service may have acted on a
 * try nevertheless.
 */
export interface ServiceClient {
  readonly mocapSessions: {
    create(input: MocapSessionInput, options?: CallOptions): Promise<MocapSession>
  }
  readonly mocapSessionFiles: {
    /** Resolves with the address of each name, in the order asked. Addresses are secrets. */
    register(input: RegisterFilesInput, options?: CallOptions): Promise<Map<string, string>>
  }
  readonly playerGroupSegments: {
    create(input: SegmentInput, options?: CallOptions): Promise<Segment>
    /** `data` is sent as it is, because the interface does not show its fields. */
    update(input: { readonly id: ServiceId; readonly data: WireObject }, options?: CallOptions): Promise<WireObject>
  }
  readonly requestedAnalyses: {
    /** `query` is sent as it is, because the interface does not show its names. */
    list(input?: { readonly query?: Query }, options?: CallOptions): Promise<ListReply<RequestedAnalysis>>
    /**
     * Never repeated once it may have been done: a doubtful end rejects at once, and the caller looks the analysis up.
     */
    create(input: AnalysisInput, options?: CallOptions): Promise<RequestedAnalysis>
    get(id: ServiceId, options?: CallOptions): Promise<RequestedAnalysis>
    /** `data` is sent as it is, because the interface does not show its fields. */
    update(
      input: { readonly id: ServiceId; readonly data: WireObject },
      options?: CallOptions,
    ): Promise<RequestedAnalysis>
    submit(id: ServiceId, options?: CallOptions): Promise<RequestedAnalysis>
  }
  readonly videoUploads: {
    create(input: VideoUploadInput, options?: CallOptions): Promise<VideoUpload>
    /** Every 2xx counts as success. An assumption: the interface shows 200 alone. */
    confirm(input: ConfirmFileInput, options?: CallOptions): Promise<void>
    /** A session that is gone after a doubtful try counts as cancelled. */
    cancel(uploadSessionId: ServiceId, options?: CallOptions): Promise<void>
  }
  /**
   * Calls any other operation. The path begins with `/` and stays below the base URL. A POST is never repeated once it
   * may have been done. `data` is undefined for an empty reply.
   */
  call(
    method: string,
    path: string,
    options?: FreeCallOptions,
  ): Promise<{ readonly status: number; readonly data: unknown }>
}
