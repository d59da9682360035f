// Digests of bodies.

/** MD5 of a body that passes by. `update` may work elsewhere: its window must not change until it settles. */
export interface Hasher {
  /** `lengthBytes`: how long the body is, where that is known; nothing but speed may depend on it. */
  start(lengthBytes?: number): BodyHash
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
