// Digests of bodies.

/**
 * Computes the MD5 of bodies as they pass; a `contentHasher` their SHA-256. `update` may work elsewhere: its window must not change
 * until it settles.
 */
export interface Hasher {
  /**
   * How many bodies under way together take little longer than one. It affects speed only. Default: each takes its own time.
   */
  readonly lanes?: number
  /** Begins the hash of a body. `lengthBytes`: its length, where that is known; it may affect speed only. */
  start(lengthBytes?: number): BodyHash
  /**
   * Takes a body that is exactly these bytes, which may change afterwards, and returns a function that gives its digest at
   * once. Bodies that are under way together may be hashed together. Undefined or absent: use `start`.
   */
  whole?(bytes: Uint8Array): (() => string) | undefined
  /** Reads and hashes a Blob elsewhere, so that it can go to the network unread. Absent: bodies pass through our memory. */
  digestBlob?(blob: Blob, signal: AbortSignal): Promise<string>
}

export interface BodyHash {
  update(bytes: Uint8Array): Promise<void> | void
  /** In lower-case hex digits: 32 of MD5, 64 of SHA-256. Called once, after the last update has settled. */
  digest(): Promise<string> | string
  /** Frees what is held when the digest will not be asked for. Idempotent. */
  dispose?(): void
}
