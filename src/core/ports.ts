// The contracts between the engine and the world. Everything that reads, sends, remembers, hashes, waits or rolls dice
// comes in through one of these; test/contracts holds one conformance suite per port.

import type { JournalRecord } from './journal/journal.ts'
import type { AttemptEnding, UploadError } from './errors.ts'

// ---- Source: where bytes come from -------------------------------------------------------------------------------

/** What a source was when it was first looked at. A difference later is ERR_UPLOAD_SOURCE_CHANGED. */
export interface SourceIdentity {
  readonly sizeBytes: number
  /** Last change, ms since 1970; absent where the source has no such time. */
  readonly modifiedAtMs?: number
}

/** Bytes under a name. Asking for a range twice gives the same bytes, or fails; there is no current position. */
export interface Source {
  /** The base name sent to the service: no path. */
  readonly name: string
  /** Where a person finds it; for messages only. Default: the name. */
  readonly location?: string
  /** Looks at the source without reading it. A stream of unknown size settles when all of it has been spooled. */
  describe(signal?: AbortSignal): Promise<SourceIdentity>
  /** Opens it for reading; rejects with ERR_UPLOAD_SOURCE_CHANGED when it is no longer what `expected` says. */
  open(expected: SourceIdentity): Promise<Reader>
  /** Frees what the source itself holds (a spool file). Called once, when its session has settled or was let go. */
  dispose?(): Promise<void>
}

/** An open source. Reads may run at the same time. */
export interface Reader {
  /**
   * Fills the whole of `into` with the bytes from `at` on. Rejects with ERR_UPLOAD_SOURCE_CHANGED when the source ends
   * earlier, ERR_UPLOAD_SOURCE_READ when it cannot be read. Undefined: it is done. `signal`: nobody wants the bytes any more; a
   * read that waits for bytes which may never come rejects with its reason, others may come to their end.
   */
  read(into: Uint8Array, at: number, signal?: AbortSignal): Promise<void> | undefined
  /** Where bytes can go to the network unread: the slice [start, end), exactly that long. */
  blob?(start: number, end: number): Blob
  /** Rejects with ERR_UPLOAD_SOURCE_CHANGED when the source is no longer what it was at `open`. Undefined: it is the same. */
  verify(): Promise<void> | undefined
  /** Idempotent. */
  close(): Promise<void>
}

// ---- Transport: one verb -----------------------------------------------------------------------------------------

/** Pieces of a body, one after the other. */
export interface PieceSequence extends AsyncIterable<Uint8Array> {
  /**
   * The same sequence without a promise where nothing is to be waited for: the next piece, or the end; or what must be waited
   * for before asking again. Whoever takes steps does not iterate. Absent: iterate.
   */
  step?(): IteratorResult<Uint8Array, undefined> | Promise<void>
}

/**
 * A request body. `windows` is the main road: an async sequence of pieces whose lengths add up to `lengthBytes`. A piece
 * is valid until the next one is asked for; the last one until the attempt has ended. The sequence is made anew for
 * each attempt. `bytes` is the road of short bodies, and they too are valid until the attempt has ended. `blob` goes to the
 * network without being read by us.
 */
export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'windows'; readonly lengthBytes: number; readonly windows: () => PieceSequence }
  | { readonly kind: 'blob'; readonly lengthBytes: number; readonly blob: Blob }

export interface TransportRequest {
  readonly method: string
  /** A secret when it is a signed address: never put into a message, an event or an error. */
  readonly url: string
  /** Lower-case names. The transport adds nothing of its own but host, connection and content-length. */
  readonly headers: Readonly<Record<string, string>>
  /** Absent: no body. A body always goes out with its exact Content-Length, 0 included; never chunked. */
  readonly body?: Body
  /** Ends the attempt. In Node the connection is reset, so that nothing more of the body is delivered. */
  readonly signal: AbortSignal
  /** Ask for a connection that no earlier request has used. Default false; a hint where the platform decides. */
  readonly isFreshConnection?: boolean
  /** How much of the answer's body is kept. Default 65,536. */
  readonly maxReplyBytes?: number
  /**
   * Bytes of the body handed to the network so far, never falling, ending at the length when all were handed over. 0 says that
   * the connection is there, for bodies that are not pulled from us.
   */
  readonly onSent?: (sentBytes: number) => void
  /** Where the transport `hasQueue`: the request has left our queue and was handed to the platform. */
  readonly onStarted?: () => void
}

export interface TransportReply {
  readonly status: number
  /** Lower-case names, in an object without a prototype; a repeated header is joined with ', '. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, at most `maxReplyBytes`. */
  readonly body: Uint8Array
  /** True when there was more. */
  readonly isBodyCut: boolean
  /** The platform shows only the headers that the far end exposes to pages of other origins. Default false. */
  readonly hidesHeaders?: boolean
}

/**
 * Sends one request and returns what was answered. Rejects with a TransportError when no answer came, with
 * `signal.reason` when aborted; the ending of an aborted attempt is read with `endingOf`. It never retries, follows
 * a redirect, or adds a credential. An early answer wins over a broken pipe. It sets no timers: waiting is the core's.
 */
export interface Transport {
  /** False when `onSent` comes only at the end, so that a stall cannot be seen. Default true. */
  readonly isProgressLive?: boolean
  /**
   * True where requests wait for a place before they start: time counts from `onStarted` on, and since the platform may
   * queue them too, unseen, they have minutes until the first `onSent`. Default false.
   */
  readonly hasQueue?: boolean
  /** True when an abort resets the connection, so that nothing more of a body that is not whole can arrive. Default false. */
  readonly isResetByAbort?: boolean
  /**
   * What ends attempts, made here because it can be used again where nothing is left on a signal. Absent: each attempt has
   * one of its own.
   */
  readonly controllers?: Controllers
  send(request: TransportRequest): Promise<TransportReply>
  /** How an attempt ended that `send` rejected, also when it rejected with the signal's reason. */
  endingOf(request: TransportRequest): AttemptEnding
  /**
   * One round trip to the host of an address, as bare as the platform has it, for listening to the line; nothing of the address
   * but its host and port is used. Rejects when there is none, or with the signal's reason. Absent where it cannot be done.
   */
  roundTrip?(url: string, signal: AbortSignal): Promise<void>
  /** Closes idle connections and resets busy ones. Idempotent. */
  close(): Promise<void>
}

/** Controllers of attempts. One that was taken is given back when its attempt has ended, whatever became of it. */
export interface Controllers {
  take(): AbortController
  giveBack(controller: AbortController): void
}

// ---- Protocol: how a service hands out addresses and takes receipts ----------------------------------------------

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

/** A file with the far end's id and addresses, one per part. Secret: it goes to the journal and nowhere else. */
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
}

export interface Protocol {
  readonly traits: ProtocolTraits
  create(files: readonly PlannedFile[], signal: AbortSignal): Promise<CreatedSession>
  /** Where addressing is `batches`: registers files, in the order given, in one call. Never called twice at once. */
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
  ): Promise<void>
  /** Where cancelScope is `session`: ends it. Safe to repeat. */
  cancel?(sessionId: string | number, signal: AbortSignal): Promise<void>
}

// ---- Journal: the only durable truth -----------------------------------------------------------------------------

/** Sessions under a key, each a list of records. Opening takes a lease: nobody else drives that session meanwhile. */
export interface Journal {
  open(key: string): Promise<SessionJournal>
  /** The records as they are now, without a lease: for looking, also while another process drives the session. */
  read(key: string): Promise<readonly JournalRecord[]>
  /** Keys of all sessions, oldest first. */
  list(): Promise<readonly string[]>
  remove(key: string): Promise<void>
}

export interface SessionJournal {
  readonly key: string
  /** The records found at opening, in order. */
  readonly records: readonly JournalRecord[]
  /**
   * Appends in call order; settles when the records are as durable as the journal promises for their types. Undefined: they
   * are, and so is all that was appended before.
   */
  append(records: readonly JournalRecord[]): Promise<void> | undefined
  /** Gives the lease back. Idempotent; appends before it are kept. */
  close(): Promise<void>
}

// ---- Hasher, Clock, Random ---------------------------------------------------------------------------------------

/** MD5 of a body that passes by. `update` may work elsewhere: its window must not change until it settles. */
export interface Hasher {
  start(): BodyHash
  /** Reads and hashes a Blob elsewhere, so that it can go to the network unread. Absent: bodies pass through us. */
  digestBlob?(blob: Blob, signal: AbortSignal): Promise<string>
}

export interface BodyHash {
  update(bytes: Uint8Array): Promise<void> | void
  /**
   * The digest of a body that is these bytes and no others, at once, instead of `update` and `digest`. Undefined, or absent:
   * update.
   */
  whole?(bytes: Uint8Array): string | undefined
  /** 32 lower-case hex digits. Called once, after the last update has settled. */
  digest(): Promise<string> | string
  /** Frees what is held when the digest will not be asked for. Idempotent. */
  dispose?(): void
}

/** Time. Shaped so that a simulated clock can drive engine and machines together. Milliseconds throughout. */
export interface Clock {
  wallNow(): number
  monotonicNow(): number
  setTimeout(callback: () => void, delayMs: number): unknown
  clearTimeout(timer: unknown): void
  /** Minutes to add to UTC for the local time of day at that wall time, for timetables. Absent: 0. */
  utcOffsetMinutes?(wallMs: number): number
  /** True while the platform holds timers back, as browsers do in hidden pages: a late one is then no sign of sleep. */
  isLagging?(): boolean
}

/** A number in [0, 1). */
export type Random = () => number
