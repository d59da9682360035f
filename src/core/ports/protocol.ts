// How a service hands out addresses and takes receipts.

import type { UploadError, TransportError } from '../errors.ts'
import type { TransportReply } from './transport.ts'

/** What the far end demands of the units of a file. Sizes in bytes. */
export interface UnitLimits {
  /** Every unit but the last is at least this long. */
  readonly minBytes: number
  readonly maxBytes: number
  readonly maxCount: number
  /** Every unit but the last is a multiple of this. */
  readonly multipleOfBytes: number
}

/** The traits of a protocol. The engine and the flows ask for these, never which protocol it is. */
export interface ProtocolTraits {
  readonly units: UnitLimits
  /** `any`: the units of a file may go in any order and at once; `next`: one writer per file, at the first byte not yet received. */
  readonly order: 'any' | 'next'
  /** `session`: all addresses come with the session; `batches`: files are registered as their turn comes. */
  readonly addressing: 'session' | 'batches'
  /** The maximum number of files in one registration; unused when addressing is `session`. */
  readonly batchSize: number
}

/** A file with its fixed plan; plain data, journalled. */
export interface PlannedFile {
  readonly fileIndex: number
  readonly name: string
  readonly sizeBytes: number
  readonly modifiedAtMs?: number
  readonly partCount: number
  readonly partSizeBytes: number
  /** What belongs to the flow, such as `frameRate`. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/**
 * A file with the far end's id and its addresses, one per part. Secret: it goes to the journal and nowhere else. No two parts
 * may have the same destination. Addresses that differ only in their signatures are the same, unless the requests of their
 * parts differ in a header that says where the bytes go, such as an offset or a range.
 */
export interface AddressedFile {
  readonly fileIndex: number
  readonly serverFileId?: string | number
  readonly addresses: readonly string[]
}

export interface CreatedSession {
  readonly sessionId: string | number
  /** Present when addressing is `session`. */
  readonly files?: readonly AddressedFile[]
  /** True when an earlier create may have left a session behind that nobody will use. */
  readonly hasPossibleOrphan?: boolean
}

/** One unit to send: [start, end) of a file. */
export interface Unit {
  readonly fileIndex: number
  readonly partNumber: number
  readonly start: number
  readonly end: number
}

/** What the storage answered that proves a unit is there. Plain data, journalled. */
export interface Receipt {
  /** The first byte that is not covered. It equals the unit's end unless the far end took only a part of the unit. */
  readonly acceptedEnd: number
  /** As received, with quotes and weakness; absent where the protocol's receipt is the status. */
  readonly etag?: string
  /** MD5 of the bytes that were sent, 32 lower-case hex digits; absent when not computed. */
  readonly md5?: string
  /** True when a digest of ours was compared with the far end's and was equal. */
  readonly isVerified: boolean
}

/**
 * What an answer to a unit means. `received`: bytes up to `acceptedEnd`, in the file, are stored. `retry`: the same request may
 * succeed later. `renew`: the address is over, another one may do. `final`: the file fails with this error.
 */
export type Verdict =
  | { readonly kind: 'received'; readonly acceptedEnd: number; readonly etag?: string }
  | {
      readonly kind: 'retry'
      /** Must have `isRetryable: true`; otherwise the part fails with this error. */
      readonly error: UploadError
      /** The pause that the far end asks for, ms. At most an hour of it is kept; what is no number asks for nothing. */
      readonly retryAfterMs?: number
      /**
       * It takes nothing now, whatever it is sent: such an answer uses up an eighth of an attempt, and three in a row are an outage.
       * Default false; the status 429, 502, 503, 504 or 511 of the error says the same.
       */
      readonly isThrottle?: boolean
    }
  | { readonly kind: 'renew'; readonly error: UploadError }
  | { readonly kind: 'final'; readonly error: UploadError }

export interface RegisterOptions {
  /** We registered these names before and never saw them stored: the far end may know them from us. */
  readonly isRepeat: boolean
  readonly signal: AbortSignal
  readonly onWaiting?: OnWaiting
  /** To be called where `signal` ends the call before the far end can have heard of these names. Its reason cannot say so. */
  readonly onUnheard?: () => void
}

/** The wait of a call that has no answer yet and is repeated. Wall times, ms since 1970. */
export interface HostWait {
  /** Which of the two far ends is waited for. Default: the service. */
  readonly who?: 'service' | 'storage'
  /** `host:port`. */
  readonly host: string
  readonly operation: string
  /** The reason in a few words, such as `connection refused` or `it answers 503`. */
  readonly reason: string
  /** The HTTP status of an answer that says no more than: not now. Absent where no answer comes. */
  readonly status?: number | undefined
  /** When the first try without success began, of this call or of one beside it. */
  readonly sinceMs: number
  /** When the next try begins. */
  readonly untilMs: number
  /** When an outage is given up; undefined where answers are counted instead, such as 500. */
  readonly giveUpAtMs: number | undefined
  /** The far end may have acted on one of the tries. */
  readonly isDoubtful: boolean
  /** This machine is without a network, as far as the platform knows. */
  readonly isOffline?: boolean | undefined
}

/**
 * A host that is unreachable, or answers only that it is unavailable, as an upload shows it. Wall times in ms since 1970.
 * `operation` is the call that waits; it is absent where parts wait for the storage. `reason` is absent where the storage gives no
 * answer.
 */
export type Outage = Partial<Pick<HostWait, 'operation' | 'reason' | 'status' | 'isDoubtful' | 'isOffline'>> & {
  readonly who: 'service' | 'storage'
  /** `host:port`. */
  readonly host: string
  readonly sinceMs: number
  /** When the next try begins. Undefined during a try, which may take as long as `callTimeoutMs` or as a part. */
  readonly untilMs: number | undefined
  /** When the upload gives up. Undefined where answers such as 500 are counted instead. */
  readonly giveUpAtMs: number | undefined
}

/**
 * Reports the wait of a call that is repeated. Called with a wait after every try, once a person would notice that the answer
 * is missing, or when there is no network. Called without one as each try begins; a pause then lets that try finish. Called
 * with null when many tries make up one call: one of them has its answer, and the next begins. A failure of its own is ignored.
 */
export type OnWaiting = (wait?: HostWait | null) => unknown

/** What the platform knows about a missing answer, beyond what the error says. */
export type Explain = (error: TransportError) => {
  /** The reason in a few words, such as `connection refused`. */
  readonly reason?: string | undefined
  /** The failure is due to this machine being without a network, and says nothing about the host. */
  readonly isOffline: boolean
}

/**
 * How a service hands out addresses and takes receipts.
 *
 * A call is abandoned when it does not end within 30 s of its signal, or when for an hour it neither ends nor reports that it
 * waits. What comes of it later counts as a lost answer: a create may have opened a session; registrations and confirmations
 * are asked for again, perhaps beside the abandoned one. A create gets a minute to finish before a pause or a cancel fires its
 * signal; a try of `confirm` that is under way, and of a create that replaces a session, gets four seconds.
 */
export interface Protocol {
  readonly traits: ProtocolTraits
  /**
   * Opens a session. When it rejects with an UploadError, `details.isDoubtful` says whether the far end may have opened one all
   * the same; if it does not say, that is assumed. `onWaiting`, here and below, lets a protocol that repeats its calls by
   * itself report its waits. `isReplacing`: the session takes the place of one in which these files were lost, and must come with
   * their addresses, also where addressing is `batches`.
   */
  create(
    files: readonly PlannedFile[],
    signal: AbortSignal,
    onWaiting?: OnWaiting,
    isReplacing?: boolean,
  ): Promise<CreatedSession>
  /**
   * Where addressing is `batches`: registers files in one call, in the order given. Never called twice at once, unless the
   * earlier call was abandoned.
   */
  register?(
    sessionId: string | number,
    files: readonly PlannedFile[],
    options: RegisterOptions,
  ): Promise<readonly AddressedFile[]>
  /** The request that carries a unit. Header names in lower case; no credential of the service. */
  request(unit: Unit, address: string): { readonly method: string; readonly headers: Readonly<Record<string, string>> }
  /** What an answer means. Pure. */
  judge(reply: TransportReply, unit: Unit): Verdict
  /**
   * Tells the far end that a file is complete. Safe to repeat with the same receipts. It may have been heard when it rejects, unless
   * the `details.isDoubtful` of an UploadError is false. Absent: a file is complete with its last receipt.
   */
  confirm?(
    sessionId: string | number,
    serverFileId: string | number,
    parts: readonly { readonly partNumber: number; readonly receipt: Receipt }[],
    signal: AbortSignal,
    onWaiting?: OnWaiting,
  ): Promise<void>
  /** Ends the session. Safe to repeat. Absent: it stays. */
  cancel?(sessionId: string | number, signal: AbortSignal): Promise<void>
}
