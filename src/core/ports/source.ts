// Where bytes come from.

/** What a source was when it was first looked at. A later difference is ERR_UPLOAD_SOURCE_CHANGED. */
export interface SourceIdentity {
  readonly sizeBytes: number
  /** Time of the last change, ms since 1970; undefined where the source has none. */
  readonly modifiedAtMs?: number | undefined
}

/** Bytes under a name. Reading a range twice gives the same bytes or fails; there is no current position. */
export interface Source {
  /** The base name sent to the service: no path. */
  readonly name: string
  /** Where a person finds it, for messages. In Node, `resume` opens the file there if it is an absolute path. Default: the name. */
  readonly location?: string | undefined
  /** Looks at the source without reading it. For a stream of unknown size, resolves when all of it has been spooled. */
  describe(signal?: AbortSignal): Promise<SourceIdentity>
  /**
   * Opens it for reading, synchronously where no waiting is needed. Rejects with ERR_UPLOAD_SOURCE_CHANGED when it is no longer
   * what `expected` says; where that has no time, only the size is compared.
   */
  open(expected: SourceIdentity): Promise<Reader> | Reader
  /** Frees what the source itself holds, such as a spool file. Called when its session has settled or was let go. Idempotent. */
  dispose?(): Promise<void>
}

/** An open source. Reads may run at the same time. */
export interface Reader {
  /**
   * Fills all of `into` with the bytes from `at` on. Undefined: that is already done. Rejects with ERR_UPLOAD_SOURCE_CHANGED
   * when the source ends earlier, with ERR_UPLOAD_SOURCE_READ when it cannot be read. `signal`: nobody wants the bytes any
   * more. A read that waits for bytes which may never come then rejects with its reason; others may run to their end. Rejects
   * with ERR_UPLOAD_INTERNAL after `close`, and where `at` is no whole number from 0 on.
   */
  read(into: Uint8Array, at: number, signal?: AbortSignal): Promise<void> | undefined
  /** The slice [start, end), exactly that long, where bytes can go to the network unread. */
  blob?(start: number, end: number): Blob
  /**
   * Checks that the source is still what it was at `open`. Undefined: it is. Rejects with ERR_UPLOAD_SOURCE_CHANGED when it
   * changed, with ERR_UPLOAD_SOURCE_READ when it is known to be gone: then it may come back.
   */
  verify(): Promise<void> | undefined
  /** Closes the source. Idempotent. */
  close(): Promise<void>
}

/** A file of a session, as it was when its upload began. */
export interface SoughtFile extends SourceIdentity {
  readonly fileIndex: number
  /** The name under which the service knows it. */
  readonly name: string
  /** Where its source said it was. */
  readonly location: string
}
