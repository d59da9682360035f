// What the independent service remembers of a test, and the options that shape it. Nothing here knows the product.

import type { IncomingHttpHeaders } from 'node:http'

/** The calls of the interface; `put` is an upload to storage, `unknown` anything that the interface does not have. */
export type Operation =
  | 'create'
  | 'confirm'
  | 'cancel'
  | 'createCapture'
  | 'register'
  | 'createSegment'
  | 'updateSegment'
  | 'createAnalysis'
  | 'listAnalyses'
  | 'getAnalysis'
  | 'updateAnalysis'
  | 'submitAnalysis'
  | 'put'
  | 'unknown'

/**
 * What happens instead of, or after, the ordinary work. A status: nothing is done, and the body is read first; unless
 * `early`, which answers before the body and then reads on and forgets it (`drain`) or ends the connection (`close`:
 * the client may or may not see the answer). `delayMs`: the work is done, the answer comes late. `resetMidBody`: a TCP
 * reset after about half of the body, nothing done. `loseReply`: the work is done, the connection ends without an
 * answer. `html500`: the page of a proxy, nothing done. `wrongEtag`: the work is done, and the answer names the MD5 of other
 * bytes. `stall`: nothing happens on the connection any more, before the body was read, after half of it, or when all was
 * read and the work was done; it stays open. `outage`: nothing is done, every connection of this server is reset, and it
 * takes none until `endOutage()`.
 */
export type FaultAction =
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: unknown
      readonly early?: 'drain' | 'close'
    }
  | { readonly delayMs: number }
  | 'resetMidBody'
  | 'loseReply'
  | 'html500'
  | 'wrongEtag'
  | { readonly stall: 'beforeBody' | 'midBody' | 'afterBody' }
  | 'outage'

/** One line of the fault script. `nth` counts from 1, and only requests that match the other fields. */
export interface Fault {
  readonly operation: Operation
  readonly nth: number | 'every'
  /** For puts: only parts of this file, only this part. */
  readonly fileName?: string
  readonly partNumber?: number
  readonly action: FaultAction
}

export interface IndependentServiceOptions {
  /** Form of session_file_id and of the ids of segments and analyses. Default 'string'. */
  readonly idStyle?: 'string' | 'number'
  /** Order of pre_signed_urls and of the keys of a register reply. Default 'asSent'. */
  readonly entryOrder?: 'asSent' | 'reversed' | { readonly shuffledBy: number }
  /** Whether an entry of pre_signed_urls repeats file_id and raw_file_name. Default: neither. */
  readonly echoes?: { readonly fileId?: boolean; readonly rawFileName?: boolean }
  /** Form of the ETag header; only 'opaque' is not the MD5 of the part. Default 'quoted'. */
  readonly etagStyle?: 'quoted' | 'bare' | 'weak' | 'opaque'
  /** Fields that the interface does not show in every object reply but the register map. Default false. */
  readonly hasUnknownFields?: boolean
  /** Confirm and cancel answer 200 without a body. Default false: a small JSON object. */
  readonly hasEmptyConfirmBodies?: boolean
  /** The one header in which a bearer token is accepted. Default 'authorization'. */
  readonly bearerHeader?: 'authorization' | 'authentication'
  /** How a segment or video session with wrong fields is refused; the interface shows only what the reply lacks. Default 200. */
  readonly refusalStatus?: number
  /** Status of a duplicate name without reprocess. Default 409. */
  readonly duplicateStatus?: number
  /** Status of a second confirm of a file. Default 200. */
  readonly repeatedConfirmStatus?: number
  /** When a name counts as existing. Default 'registered'. */
  readonly duplicateMeans?: 'registered' | 'stored'
  /** The mocap type whose files are plain video. Default 67. */
  readonly plainVideoTypeId?: number
  /** How long an address lives. Default 3600 s. */
  readonly addressLifetimeSeconds?: number
  /** Whether the address shows its deadline in its query. Default true. */
  readonly isDeadlineShown?: boolean
  /** Smallest part but the last, checked at confirm. Default 5 MiB. */
  readonly minPartBytes?: number
  /** The status that each further GET of a requested analysis shows; the last one stays. */
  readonly analysisProgress?: readonly string[]
  /** The name of the id in an analysis record. Default 'id'. */
  readonly analysisIdField?: 'id' | 'requested_analysis_id'
  readonly faults?: readonly Fault[]
}

/** One request as it was received. Times are on the clock of `performance.now()`, ms. */
export interface RequestRecord {
  readonly operation: Operation
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly startedAtMs: number
  endedAtMs?: number
  fileName?: string
  partNumber?: number
  bodyBytes: number
  /** The parsed JSON of a service call. */
  body?: unknown
  status?: number
  /** What was answered to a service call, parsed; absent when nothing was. */
  answer?: unknown
  ending: 'open' | 'answered' | 'reset' | 'replyLost' | 'clientGone'
}

/** A part as it is in storage now; `putCount` says how often it was stored whole. */
export interface StoredPart {
  readonly partNumber: number
  readonly sizeBytes: number
  readonly sha256: string
  readonly md5: string
  readonly etag: string
  readonly putCount: number
}

/** A file as it is in storage now, parts in order, and the digest of the parts joined. */
export interface StoredFile {
  readonly flow: 'video' | 'capture'
  readonly sessionId: string
  readonly fileName: string
  /** Accepted by a confirm; undefined for a capture, which has none. */
  readonly isConfirmed: boolean | undefined
  readonly sizeBytes: number
  readonly sha256: string
  readonly parts: readonly StoredPart[]
}

export interface Records {
  readonly requests: RequestRecord[]
  maxPutsInFlight: number
  /** Headers of storage requests that carried a credential of the service. Empty when all is well. */
  readonly credentialLeaks: { readonly target: string; readonly header: string }[]
  /** Sessions that were cancelled by the client. */
  readonly cancelledSessionIds: string[]
}
