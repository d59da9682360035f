// The messages between a page and its hashing worker: one reply to each call, in any order.

/**
 * One step of a body: a window of it, a whole Blob of it, a request for its digest, or word that it will never be
 * finished.
 */
export interface HashCall {
  /** From 1 on. The reply has the same number. */
  readonly call: number
  readonly body: number
  readonly algorithm: 'md5' | 'sha256'
  readonly step: Uint8Array | Blob | 'digest' | 'drop'
}

/** The first reply is to call 0, which nobody makes: the algorithms are compiled, or `problem` says why not. */
export interface HashReply {
  readonly call: number
  /** Lower-case hex digits, if a digest was asked for. */
  readonly digest?: string
  /** What the platform said: no WASM under this policy, or a Blob that can no longer be read. */
  readonly problem?: string
}
