// How an engine uses the line: how many parts at once, how fast, and what it hears meanwhile. The fixed form here takes the
// whole line with one number of parts; adaptive-tuning has all that learns.

import type { ConcurrencySample } from './concurrency.ts'
import { invalid } from './errors.ts'
import type { Transport } from './ports.ts'
import type { SendPartPorts } from './send-part.ts'

export interface Tuning {
  /** Parts that may be in flight now. */
  limit(): number
  /** Leave to send. */
  readonly pace: SendPartPorts['pace']
  /** The transport to send with, so that the line can be listened to. */
  readonly transport: Transport
  /** How long until the next sample while parts are under way, ms. */
  sampleEveryMs(): number
  onSample(sample: Omit<ConcurrencySample, 'roundTripMs'>): void
  /** So many more bytes were handed to the network. */
  addBytes(bytes: number): void
  /** Whether anything is being sent; nothing is measured otherwise. */
  setActive(isActive: boolean): void
}

export const MAX_CONCURRENCY = 64
const SAMPLE_MS = 500
const UNLIMITED: SendPartPorts['pace'] = {
  isLimited: () => false,
  pieceBytes: () => Infinity,
  take: () => undefined,
}

export function fixedTuning(transport: Transport, concurrency: number): Tuning {
  return {
    limit: () => concurrency,
    pace: UNLIMITED,
    transport,
    sampleEveryMs: () => SAMPLE_MS,
    onSample: () => undefined,
    addBytes: () => undefined,
    setActive: () => undefined,
  }
}

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for what is no number of parts. */
export function checkConcurrency(concurrency: number): number {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY) return concurrency
  return invalid(`concurrency must be 'auto' or a whole number from 1 to ${MAX_CONCURRENCY}, not ${concurrency}.`)
}
