// How a request goes out and what is answered: one verb.

import type { AttemptEnding } from '../errors.ts'

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
 * is valid until the next one is asked for; the last one until the attempt has ended: what reads ahead, such as
 * `Readable.from`, must be given copies. The sequence is made anew for each attempt. `bytes` is the road of short bodies,
 * and they too are valid until the attempt has ended. `blob` goes to the network without being read by us.
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
   * the connection is there. A transport calls it where it is given and there is a body, at the latest before it answers: of a part
   * that it has not told of to its end, no 2xx is believed, and one that it has told nothing of fails with ERR_UPLOAD_INTERNAL.
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
 * a redirect, or adds a credential. An early answer wins over a broken pipe. It sets no timers: waiting is the core's, whose
 * TransportError as the reason says that a wait is over: it then answers with what it has, if that is a head.
 */
export interface Transport {
  /** False while `onSent` comes only at the end, so that a stall cannot be seen; read for each attempt. Default true. */
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
