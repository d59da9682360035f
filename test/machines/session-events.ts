// Every event that can reach the upload-session machine, by hand: the traversal of xstate/graph takes these instead of
// the machine's own list, and needs an output wherever an action reads one.
import { UploadError, type UploadErrorCode } from '../../src/core/errors.ts'
import type { TransferFailure } from '../../src/machines/rejection.ts'
import type { UploadSessionEvent } from '../../src/machines/session-data.ts'

/** What a hand-answered actor is told: an error by its plain form. */
export type Answer = { readonly output: unknown } | { readonly error: TransferFailure | PlainError }
interface PlainError {
  readonly code: UploadErrorCode
  readonly message: string
  readonly details?: UploadError['details']
}

/** What the actor then rejects with. */
export function rejectionOf(told: TransferFailure | PlainError): Error {
  if ('code' in told) return new UploadError(told.code, told.message, { details: told.details ?? {} })
  return told as unknown as Error
}

const refused = { code: 'ERR_UPLOAD_CREDENTIALS_REFUSED', message: 'The service refused the key (401).' } as const
const rejection = (confirmedCount: number): TransferFailure => ({ confirmedCount, error: refused })
const lost = { code: 'ERR_UPLOAD_JOURNAL', message: 'The disk is full.' } as const

/** Label → the actor's id in the machine and what it is told. The session has two files. */
export const answers: Readonly<Record<string, { readonly actor: string; readonly answer: Answer }>> = {
  created: { actor: 'creatingSession', answer: { output: undefined } },
  'create refused': { actor: 'creatingSession', answer: { error: refused } },
  'transferred 2 of 2': { actor: 'transferring', answer: { output: { confirmedCount: 2, failedCount: 0 } } },
  'transferred 1 of 2': { actor: 'transferring', answer: { output: { confirmedCount: 1, failedCount: 1 } } },
  'transferred 0 of 2': { actor: 'transferring', answer: { output: { confirmedCount: 0, failedCount: 2 } } },
  'transfer refused after 1': { actor: 'transferring', answer: { error: rejection(1) } },
  'transfer refused after 0': { actor: 'transferring', answer: { error: rejection(0) } },
  'drained to pause': { actor: 'drainingToPause', answer: { output: undefined } },
  'drained, and all over': {
    actor: 'drainingToPause',
    answer: { output: { confirmedCount: 2, failedCount: 0 } },
  },
  'pause drain broke': { actor: 'drainingToPause', answer: { error: lost } },
  'drained to cancel': { actor: 'drainingToCancel', answer: { output: undefined } },
  'cancel drain broke': { actor: 'drainingToCancel', answer: { error: lost } },
  'service told': { actor: 'cancellingSession', answer: { output: { isServiceTold: true } } },
  'service not told': { actor: 'cancellingSession', answer: { output: { isServiceTold: false } } },
  'telling broke': { actor: 'cancellingSession', answer: { error: refused } },
  settled: { actor: 'settling', answer: { output: undefined } },
  'settling broke': { actor: 'settling', answer: { error: lost } },
}

export const requests: readonly UploadSessionEvent[] = [
  { type: 'upload.pause' },
  { type: 'upload.resume' },
  { type: 'upload.cancel' },
  { type: 'upload.close' },
  { type: 'create.late' },
  { type: 'host.unreachable', isTried: false },
  { type: 'host.reachable' },
]

/** The event that xstate sends when an actor ends. Its type is internal to xstate. */
export function eventOf(actor: string, answer: Answer) {
  return 'output' in answer
    ? { ...answer, type: `xstate.done.actor.${actor}` }
    : { error: rejectionOf(answer.error), type: `xstate.error.actor.${actor}` }
}

/** Requests by their type, answers by their label. */
export function labelOf(event: { readonly type: string }): string {
  return 'label' in event ? String(event.label) : event.type
}

export const allEvents: readonly UploadSessionEvent[] = [
  ...requests,
  ...Object.entries(answers).map(
    ([label, { actor, answer }]) => ({ ...eventOf(actor, answer), label }) as unknown as UploadSessionEvent,
  ),
]
