// How an engine uses the line: how many parts at once, how fast, and what it hears meanwhile. The fixed form here takes the
// whole line with one number of parts; adaptive-tuning has all that learns.

import { invalid } from './errors.ts'
import type { Clock, Hasher, Transport } from './ports.ts'
import type { Sampling, Slots } from './sampling.ts'
import type { Hearing } from './line/hearing.ts'
import type { PartPace } from './line/pace.ts'
import type { StragglerResets } from './line/straggler-resets.ts'
import type { LimitRate } from './line/timetable.ts'

export interface Tuning {
  /** Parts that may be in flight now. */
  limit(): number
  /** Leave to send. */
  readonly pace: PartPace
  /** The transport to send with, so that the line can be listened to. */
  readonly transport: Transport
  /** Another limit from now on. Throws ERR_UPLOAD_INVALID_ARGUMENT. */
  limitRate(limit: LimitRate): void
  /** Begins to sample the line, for what it learns; absent: there is nothing to learn. */
  sample?(slots: Slots): Sampling
  /** Resets the attempts that hold a session up, for each session apart; absent: none is. */
  watchStragglers?(): StragglerResets
}

export interface TuningOptions {
  readonly transport: Transport
  readonly clock: Clock
  /**
   * Parts in flight across all sessions, 1 to 64: `auto` (default) starts at 4 and finds its own number. With adaptiveTuning more than 62
   * are 62, so that with calls and bare handshakes there are at most 64 connections to a host.
   */
  readonly concurrency?: number | 'auto'
  /**
   * Yields to everything else on the line: as fast as makes nobody wait, in at most four parts at once unless `concurrency`
   * is a number. Default false.
   */
  readonly isBackground?: boolean
  /** Bytes a second over all parts, retries included; absent: no limit. */
  readonly limitRate?: LimitRate
  /** What hashes the parts. To a host that is near go twice as many as it takes together: others are read and sent meanwhile. */
  readonly hasher?: Hasher
  /** Listens to the line where the transport has round trips; absent: `auto` goes by rates alone, which takes it longer. */
  readonly hearing?: Hearing
}

/** Makes a tuning. Throws ERR_UPLOAD_INVALID_ARGUMENT for a number of parts or a limit that is none, or that it cannot keep. */
export type TuningMaker = (options: TuningOptions) => Tuning

export const MAX_CONCURRENCY = 64
const UNLIMITED: PartPace = {
  isLimited: () => false,
  pieceBytes: () => Infinity,
  take: () => undefined,
}

/** One number of parts, and the whole line. */
export const fixedTuning: TuningMaker = ({ transport, concurrency, isBackground, limitRate }) => {
  if (concurrency === 'auto' || concurrency === undefined || isBackground === true || limitRate !== undefined) refuse()
  const limit = checkConcurrency(concurrency)
  return { limit: () => limit, pace: UNLIMITED, transport, limitRate: refuse }
}

function refuse(): never {
  invalid("concurrency: 'auto', limitRate and isBackground need tuning: adaptiveTuning of mocap-uplink/tuning.")
}

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for what is no number of parts. */
export function checkConcurrency(concurrency: number): number {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY) return concurrency
  return invalid(`concurrency must be 'auto' or a whole number from 1 to ${MAX_CONCURRENCY}, not ${concurrency}.`)
}
