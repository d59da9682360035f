// What a controller of the parts in flight is shown, and what it answers.

/** What happened since the last sample. Ten samples a second show more than one. */
export interface ConcurrencySample {
  /** On a clock that does not jump back, ms. */
  readonly atMs: number
  /** Parts in flight now. */
  readonly inFlight: number
  /** Bytes handed to the network, as they go. If they are counted only at the end of parts, it takes longer to see anything. */
  readonly bytesSince: number
  readonly partsDone: number
  /** How late the sample came, ms: a round trip waited as long for the processor. Default 0. */
  readonly lateMs?: number
  /** A bare round trip measured since the last sample, ms; undefined when none was. */
  readonly roundTripMs?: number | undefined
}

export interface Concurrency {
  /** Parts that may be in flight now. */
  limit(): number
  onSample(sample: ConcurrencySample): void
  /** Whether a round trip measured now would be of use: a trial is near or under way. */
  isCurious(): boolean
}
