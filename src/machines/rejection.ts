// Reads what an actor rejected with: a plain error and, where it says so, how far the actor came. Machines keep only plain data.

import { summarize, type ErrorSummary } from '../core/errors.ts'

/** What `creatingSession` and `transferring` reject with. Every other actor rejects with an error. */
export interface TransferFailure {
  readonly error: ErrorSummary
  readonly confirmedCount: number
}

/** An error as a failure in which no file was confirmed. */
export function readRejection(reason: unknown): TransferFailure {
  const isFailure = typeof reason === 'object' && reason !== null && 'confirmedCount' in reason
  return isFailure ? (reason as TransferFailure) : { error: summarize(reason), confirmedCount: 0 }
}
