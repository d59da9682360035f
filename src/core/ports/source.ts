// Where bytes come from.

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
  /**
   * Opens it for reading, at once where that takes no waiting; rejects with ERR_UPLOAD_SOURCE_CHANGED when it is no longer what
   * `expected` says.
   */
  open(expected: SourceIdentity): Promise<Reader> | Reader
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
  /**
   * Rejects with ERR_UPLOAD_SOURCE_CHANGED when the source is no longer what it was at `open`, ERR_UPLOAD_SOURCE_READ when it is
   * known to be gone: then it may come back. Undefined: it is the same.
   */
  verify(): Promise<void> | undefined
  /** Idempotent. */
  close(): Promise<void>
}

/** A file of a session, as it was when its upload began. */
export interface SoughtFile extends SourceIdentity {
  readonly fileIndex: number
  /** As the service knows it. */
  readonly name: string
  /** Where its source said that it is. */
  readonly location: string
}
