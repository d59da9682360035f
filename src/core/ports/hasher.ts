// Digests of bodies.

/** MD5 of a body that passes by. `update` may work elsewhere: its window must not change until it settles. */
export interface Hasher {
  /** So many bodies that are under way take little longer than one. Default: each takes its own time. Nothing but speed depends on it. */
  readonly lanes?: number
  /** `lengthBytes`: how long the body is, where that is known; nothing but speed may depend on it. */
  start(lengthBytes?: number): BodyHash
  /**
   * Takes a body that is these bytes and no others, which may change from then on, and returns what gives its digest at once. Bodies
   * that are under way together may be hashed together. Undefined, or absent: start a hash of it.
   */
  whole?(bytes: Uint8Array): (() => string) | undefined
  /** Reads and hashes a Blob elsewhere, so that it can go to the network unread. Absent: bodies pass through us. */
  digestBlob?(blob: Blob, signal: AbortSignal): Promise<string>
}

export interface BodyHash {
  update(bytes: Uint8Array): Promise<void> | void
  /** 32 lower-case hex digits. Called once, after the last update has settled. */
  digest(): Promise<string> | string
  /** Frees what is held when the digest will not be asked for. Idempotent. */
  dispose?(): void
}
