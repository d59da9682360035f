// How an engine uses the line: how many parts at once, how fast, and what it measures meanwhile. The fixed form here sends one
// number of parts at full speed; adaptive-tuning has everything that learns.

import { invalid } from './errors.ts'
import type { Clock, Hasher, Transport } from './ports.ts'
import type { Sampling, Slots } from './sampling.ts'
import type { Hearing } from './line/hearing.ts'
import type { PartPace } from './line/pace.ts'
import type { StragglerResets } from './line/straggler-resets.ts'
import type { LimitRate } from './line/timetable.ts'

export interface Tuning {
  /** How many parts may be in flight now. */
  limit(): number
  /** Gives leave to send. */
  readonly pace: PartPace
  /** The transport to send with: it may be wrapped, so that the line can be listened to. */
  readonly transport: Transport
  /**
   * Sets another limit from now on. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid limit, or where there can be none.
   */
  limitRate(limit: LimitRate): void
  /** Begins to sample the line in order to learn from it; absent: there is nothing to learn. */
  sample?(slots: Slots): Sampling
  /** Makes what resets the attempts that hold up a session, one for each session; absent: none is reset. */
  watchStragglers?(): StragglerResets
}

export interface TuningOptions {
  readonly transport: Transport
  readonly clock: Clock
  /**
   * Parts in flight across all sessions: 1 to 64, or `auto` (default), which starts at 4 and finds its own number; under a
   * `limitRate`, as few as reach it, at least 2. Those whose sources hang, or did, do not count. adaptiveTuning uses 62 at most,
   * so that with calls and bare handshakes there are at most 64 connections to a host.
   */
  readonly concurrency?: number | 'auto' | undefined
  /**
   * Yields to everything else on the line: sends as fast as it can without making anybody wait, in at most four parts at once
   * unless `concurrency` is a number. Default false.
   */
  readonly isBackground?: boolean | undefined
  /** Limit in bytes per second over all parts, retries included; absent: no limit. */
  readonly limitRate?: LimitRate | undefined
  /** What hashes the parts. A nearby host gets twice as many parts as it hashes together: the others are read and sent meanwhile. */
  readonly hasher?: Hasher | undefined
  /** Listens to the line, where the transport has round trips. Absent: `auto` goes by rates alone, which takes it longer. */
  readonly hearing?: Hearing | undefined
}

/** Makes a tuning. Throws ERR_UPLOAD_INVALID_ARGUMENT for a number of parts or a limit that is invalid or not supported. */
export type TuningMaker = (options: TuningOptions) => Tuning

export const MAX_CONCURRENCY = 64
const UNLIMITED: PartPace = {
  isLimited: () => false,
  pieceBytes: () => Infinity,
  take: () => undefined,
}

/** A constant number of parts, as fast as the line is. */
export const fixedTuning: TuningMaker = ({ transport, concurrency, isBackground, limitRate }) => {
  if (concurrency === 'auto' || concurrency === undefined || isBackground === true || limitRate !== undefined) refuse()
  const limit = checkConcurrency(concurrency)
  return { limit: () => limit, pace: UNLIMITED, transport, limitRate: refuse }
}

function refuse(): never {
  invalid("concurrency: 'auto', limitRate and isBackground need tuning: adaptiveTuning of mocap-uplink/tuning.")
}

/** Returns the number of parts, or throws ERR_UPLOAD_INVALID_ARGUMENT when it is invalid. */
export function checkConcurrency(concurrency: number): number {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY) return concurrency
  return invalid(`concurrency must be 'auto' or a whole number from 1 to ${MAX_CONCURRENCY}, not ${concurrency}.`)
}
