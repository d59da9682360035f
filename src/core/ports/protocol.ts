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

/** What a protocol is. The engine and the flows ask these instead of asking which protocol it is. */
export interface ProtocolTraits {
  readonly units: UnitLimits
  /** `any`: units may go in any order at once; `next`: one writer per file, at the first byte not yet received. */
  readonly order: 'any' | 'next'
  /** `session`: all addresses come with the session; `batches`: files are registered as their turn comes. */
  readonly addressing: 'session' | 'batches'
  /** Files a registration takes at most; unused when addressing is `session`. */
  readonly batchSize: number
  /** What `cancel` ends at the far end. */
  readonly cancelScope: 'session' | 'none'
  /** Whether a file needs a call of its own after its last receipt. */
  readonly confirms: boolean
}

/** A file with its fixed plan; plain data, journalled. */
export interface PlannedFile {
  readonly fileIndex: number
  readonly name: string
  readonly sizeBytes: number
  readonly modifiedAtMs?: number
  readonly partCount: number
  readonly partSizeBytes: number
  /** What belongs to the flow: `frameRate`. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/**
 * A file with the far end's id and addresses, one per part. Secret: it goes to the journal and nowhere else. No two parts may have one
 * place: addresses that differ in nothing but their signatures are one, unless the requests of their parts differ in a header, which
 * then says where the bytes go: an offset, a range.
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
  /** The first byte not covered: equals the unit's end unless the far end took only a part of it. */
  readonly acceptedEnd: number
  /** As received, quotes and weakness included; absent where the protocol's receipt is the status. */
  readonly etag?: string
  /** MD5 of the bytes that were sent, 32 lower-case hex digits; absent when not computed. */
  readonly md5?: string
  /** True when a digest of ours was compared with the far end's and was equal. */
  readonly isVerified: boolean
}

/** What an answer to a unit means. */
export type Verdict =
  | { readonly kind: 'received'; readonly acceptedEnd: number; readonly etag?: string }
  | {
      readonly kind: 'retry'
      readonly error: UploadError
      readonly retryAfterMs?: number
      readonly isThrottle: boolean
    }
  | { readonly kind: 'renew'; readonly error: UploadError }
  | { readonly kind: 'final'; readonly error: UploadError }

export interface RegisterOptions {
  /** We asked for these names before and never saw them stored: the far end may know them by us. */
  readonly isRepeat: boolean
  readonly signal: AbortSignal
  readonly onWaiting?: OnWaiting
}

/** A call that has no answer yet and is repeated. Wall times, ms since 1970. */
export interface HostWait {
  /** Which of the two far ends it is. Default: the service. */
  readonly who?: 'service' | 'storage'
  /** `host:port`. */
  readonly host: string
  readonly operation: string
  /** In a few words, such as `connection refused` or `it answers 503`. */
  readonly reason: string
  /** What it answers, an HTTP status that says no more than: not now. Absent where no answer comes. */
  readonly status?: number | undefined
  /** The beginning of the first try that had no success, of this call or of one beside it. */
  readonly sinceMs: number
  /** When it is tried again. */
  readonly untilMs: number
  /** Of an outage; undefined where answers are counted, such as 500. */
  readonly giveUpAtMs: number | undefined
  /** The far end may have acted on one of the tries. */
  readonly isDoubtful: boolean
  /** This machine is without a network, as far as its platform knows. */
  readonly isOffline?: boolean | undefined
}

/**
 * Told after every try, once a person would notice that the answer is missing or there is no network; and without a wait as each try begins, which a
 * pause then lets finish; and with null once one of many tries that are one call has its answer, and the next begins. What it
 * throws is ignored.
 */
export type OnWaiting = (wait?: HostWait | null) => void

/** What the platform knows of a failure to get an answer, beyond what the error says. */
export type Explain = (error: TransportError) => {
  /** In a few words, such as `connection refused`. */
  readonly reason?: string | undefined
  /** It comes of this machine's being without a network, and says nothing of the host. */
  readonly isOffline: boolean
}

/**
 * Calls are left that do not end within 30 s of their signal, or that for an hour neither end nor tell that they wait. What comes of
 * them later counts as an answer that was lost: a create may have opened a session; registrations and confirmations are asked for
 * again, perhaps beside the one that was left. A create is let finish for a minute before a pause or a cancel fires its signal.
 */
export interface Protocol {
  readonly traits: ProtocolTraits
  /**
   * Opens a session. A rejection with an UploadError says in `details.isDoubtful` whether the far end may have opened one all the
   * same; where it says nothing, that is taken for possible. `onWaiting`, here and below: for a protocol that repeats its calls by
   * itself to tell so.
   */
  create(files: readonly PlannedFile[], signal: AbortSignal, onWaiting?: OnWaiting): Promise<CreatedSession>
  /** Where addressing is `batches`: registers files, in the order given, in one call. Never called twice at once, but for one that was left. */
  register?(
    sessionId: string | number,
    files: readonly PlannedFile[],
    options: RegisterOptions,
  ): Promise<readonly AddressedFile[]>
  /** The request that carries a unit. Headers in lower case; no credential of the service. */
  request(unit: Unit, address: string): { readonly method: string; readonly headers: Readonly<Record<string, string>> }
  /** What an answer means; pure. */
  judge(reply: TransportReply, unit: Unit): Verdict
  /** Where `traits.confirms`: tells the far end that a file is complete. Safe to repeat with the same receipts. */
  confirm?(
    sessionId: string | number,
    serverFileId: string | number,
    parts: readonly { readonly partNumber: number; readonly receipt: Receipt }[],
    signal: AbortSignal,
    onWaiting?: OnWaiting,
  ): Promise<void>
  /** Where cancelScope is `session`: ends it. Safe to repeat. */
  cancel?(sessionId: string | number, signal: AbortSignal): Promise<void>
}
