// How a request goes out and what is answered: one verb.

import type { AttemptEnding } from '../errors.ts'

/** The pieces of a body, one after the other. */
export interface PieceSequence extends AsyncIterable<Uint8Array> {
  /**
   * Iterates the same sequence without a promise where there is nothing to wait for. Returns the next piece, or the end, or a
   * promise to wait for before asking again. Whoever takes steps does not iterate. Absent: iterate.
   */
  step?(): IteratorResult<Uint8Array, undefined> | Promise<void>
}

/**
 * A request body. `windows` is the usual form: an async sequence of pieces whose lengths add up to `lengthBytes`. A piece is
 * valid until the next one is asked for, the last one until the attempt has ended; whatever reads ahead, such as
 * `Readable.from`, must be given copies. The sequence is made anew for each attempt. `bytes` is for short bodies; they too are
 * valid until the attempt has ended. `blob` goes to the network without being read by us.
 */
export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'windows'; readonly lengthBytes: number; readonly windows: () => PieceSequence }
  | { readonly kind: 'blob'; readonly lengthBytes: number; readonly blob: Blob }

export interface TransportRequest {
  readonly method: string
  /** A secret when it is a signed address: it never goes into a message, an event or an error. */
  readonly url: string
  /** Lower-case names. The transport adds nothing of its own but host, connection and content-length. */
  readonly headers: Readonly<Record<string, string>>
  /** Absent: no body. A body always goes out with its exact Content-Length, 0 included; never chunked. */
  readonly body?: Body
  /** Ends the attempt. In Node the connection is reset, so that nothing more of the body is delivered. */
  readonly signal: AbortSignal
  /** Asks for a connection that no earlier request has used; only a hint where the platform decides. Default false. */
  readonly isFreshConnection?: boolean
  /** How much of the answer's body is kept, bytes. Default 65,536. */
  readonly maxReplyBytes?: number
  /**
   * Reports how many bytes of the body were handed to the network so far: it never falls, and ends at the length when all were
   * handed over. 0 says that the connection is there. Where it is given and there is a body, the transport must call it, at the latest
   * before it answers: a 2xx is not believed for a part that was not reported to its end, and a part of which nothing was
   * reported fails with ERR_UPLOAD_INTERNAL.
   */
  readonly onSent?: (sentBytes: number) => void
  /**
   * Time to connect counts from its last call. Where the transport `hasQueue`: called when the request leaves our queue and is
   * handed to the platform. Also called at least once a second while the request waits for something of this machine.
   */
  readonly onStarted?: () => void
}

export interface TransportReply {
  readonly status: number
  /** Lower-case names, in an object without a prototype; repeated headers are joined with ', '. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, at most `maxReplyBytes`. */
  readonly body: Uint8Array
  /** True when there was more. */
  readonly isBodyCut: boolean
  /** True where the platform shows only the headers that the far end exposes to pages of other origins. Default false. */
  readonly hidesHeaders?: boolean
}

/**
 * Sends one request and returns the answer. Rejects with a TransportError when no answer came, or with `signal.reason` when
 * aborted; `endingOf` then says how the attempt ended. It never retries, follows a redirect, or adds a credential. An early
 * answer wins over a broken pipe. It sets no timers, because waiting is the core's business. A TransportError as the signal's
 * reason says that a wait took too long: the transport then answers with what it has, if that includes the head of the answer.
 */
export interface Transport {
  /** False where `onSent` is called only at the end, so that a stall cannot be seen. Read for each attempt. Default true. */
  readonly isProgressLive?: boolean
  /**
   * True where requests wait for a place before they start. Time then counts from `onStarted` on. Since the platform may queue
   * them too, unseen, they have at least five minutes until the first `onSent`. Default false.
   */
  readonly hasQueue?: boolean
  /** True when an abort resets the connection, so that nothing more of an incomplete body can arrive. Default false. */
  readonly isResetByAbort?: boolean
  /**
   * Makes the abort controllers of attempts, where they can be used again once nothing listens to their signals. Absent: each
   * attempt has a new one.
   */
  readonly controllers?: Controllers
  send(request: TransportRequest): Promise<TransportReply>
  /** How an attempt ended whose `send` rejected, even if with the signal's reason. */
  endingOf(request: TransportRequest): AttemptEnding
  /**
   * The answer to this request was not its own, or its bytes were damaged: where the platform lets us, its connection is reset,
   * because later answers on it would be those of their predecessors.
   */
  distrust?(request: TransportRequest): void
  /**
   * Makes one round trip to the host of an address, as bare as the platform allows, to listen to the line. Uses nothing of the
   * address but its host and port. Rejects when it fails, or with the signal's reason. Absent where the platform cannot do it.
   */
  roundTrip?(url: string, signal: AbortSignal): Promise<void>
  /** Closes idle connections and resets busy ones. Idempotent. */
  close(): Promise<void>
}

/** The abort controllers of attempts. One that was taken is given back when its attempt has ended, however it ended. */
export interface Controllers {
  take(): AbortController
  giveBack(controller: AbortController): void
}
