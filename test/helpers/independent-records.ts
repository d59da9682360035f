// What the independent service records during a test, and the options that shape it. Nothing here depends on the product.

import type { IncomingHttpHeaders } from 'node:http'

/** The calls of the interface. `put` is an upload to the storage, `unknown` anything that the interface does not have. */
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
 * What happens instead of, or after, the ordinary work.
 * A status: nothing is done, and the answer follows the body. With `early` the answer comes before the body, and the service
 * then reads and discards it (`drain`) or closes the connection (`close`: the client may or may not see the answer).
 * `delayMs`: the work is done, and the answer comes late. `resetMidBody`: a TCP reset after about half of the body,
 * nothing is done. `loseReply`: the work is done, and the connection ends without an answer. `html500`: the error page
 * of a proxy, nothing is done. `wrongEtag`: the work is done, and the answer has the MD5 of other bytes.
 * `stall`: nothing more happens on the connection, which stays open, before the body is read, after half of it, or
 * after all of it was read and the work was done. `outage`: nothing is done, every connection of this server is reset,
 * and it accepts none until `endOutage()`.
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

/** One line of the fault script. `nth` counts, from 1, only requests that match the other fields. */
export interface Fault {
  readonly operation: Operation
  readonly nth: number | 'every'
  /** For PUTs: only parts of this file, only this part. */
  readonly fileName?: string
  readonly partNumber?: number
  readonly action: FaultAction
}

export interface IndependentServiceOptions {
  /** Type of session_file_id and of the ids of segments and analyses. Default 'string'. */
  readonly idStyle?: 'string' | 'number'
  /** Order of pre_signed_urls and of the keys in a register reply. Default 'asSent'. */
  readonly entryOrder?: 'asSent' | 'reversed' | { readonly shuffledBy: number }
  /** Whether an entry of pre_signed_urls repeats file_id and raw_file_name. Default: neither. */
  readonly echoes?: { readonly fileId?: boolean; readonly rawFileName?: boolean }
  /** Form of the ETag header. All but 'opaque' are the MD5 of the part. Default 'quoted'. */
  readonly etagStyle?: 'quoted' | 'bare' | 'weak' | 'opaque'
  /** Adds fields that the interface does not show to every object reply except the register map. Default false. */
  readonly hasUnknownFields?: boolean
  /** Confirm and cancel answer 200 with an empty body. Default false: with a small JSON object. */
  readonly hasEmptyConfirmBodies?: boolean
  /** The only header in which a bearer token is accepted. Default 'authorization'. */
  readonly bearerHeader?: 'authorization' | 'authentication'
  /**
   * Status of the refusal of a segment or video session with wrong fields. The interface shows only what the reply lacks. Default 200.
   */
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
  /** Its clock: ms since 1970, for the addresses and the Date header. Default: the system's. */
  readonly now?: () => number
  /** Whether the address shows its deadline in its query. Default true. */
  readonly isDeadlineShown?: boolean
  /** The smallest size of a part other than the last, checked at confirm. Default 5 MiB. */
  readonly minPartBytes?: number
  /** The statuses that successive GETs of a requested analysis show. The last one stays. */
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
  /** The parsed answer to a service call; absent if there was none. */
  answer?: unknown
  ending: 'open' | 'answered' | 'reset' | 'replyLost' | 'clientGone'
}

/** A part as it is in the storage now. `putCount` says how often it was stored whole. */
export interface StoredPart {
  readonly partNumber: number
  readonly sizeBytes: number
  readonly sha256: string
  readonly md5: string
  readonly etag: string
  readonly putCount: number
}

/** A file as it is in the storage now: its parts in order, and the digest of the parts joined. */
export interface StoredFile {
  readonly flow: 'video' | 'capture'
  readonly sessionId: string
  readonly fileName: string
  /** Whether a confirm was accepted; undefined for a capture, which has none. */
  readonly isConfirmed: boolean | undefined
  readonly sizeBytes: number
  readonly sha256: string
  readonly parts: readonly StoredPart[]
}

export interface Records {
  readonly requests: RequestRecord[]
  maxPutsInFlight: number
  /** Headers of storage requests that carried a credential of the service. Must stay empty. */
  readonly credentialLeaks: { readonly target: string; readonly header: string }[]
  /** Sessions that were cancelled by the client. */
  readonly cancelledSessionIds: string[]
}
