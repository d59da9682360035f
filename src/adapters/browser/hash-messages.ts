// What a page and its hashing worker say to each other: one reply to each call, in any order.

/** One step for a body: a window of it, a whole Blob of it, that its digest is wanted, or that it never will be. */
export interface HashCall {
  /** From 1 on; the reply has the same. */
  readonly call: number
  readonly body: number
  readonly algorithm: 'md5' | 'sha256'
  readonly step: Uint8Array | Blob | 'digest' | 'drop'
}

/** The reply to call 0, which nobody makes, comes first: the algorithms are compiled, or the `problem` says why not. */
export interface HashReply {
  readonly call: number
  /** Lower-case hex digits, where one was asked for. */
  readonly digest?: string
  /** What the platform said: no WASM under this policy, a Blob that cannot be read any more. */
  readonly problem?: string
}
