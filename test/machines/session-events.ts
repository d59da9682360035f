// Every event that can reach the upload-session machine, by hand: the traversal of xstate/graph takes these instead of
// the machine's own list, and needs an output wherever an action reads one.
import { UploadError, type UploadErrorCode } from '../../src/core/errors.ts'
import type { TransferFailure } from '../../src/machines/rejection.ts'
import type { Outage } from '../../src/core/ports.ts'
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

/** Label → the state whose actor ends, and what it is told. The session has two files. */
export const answers: Readonly<Record<string, { readonly state: string; readonly answer: Answer }>> = {
  created: { state: 'creating', answer: { output: undefined } },
  'create refused': { state: 'creating', answer: { error: refused } },
  'transferred 2 of 2': { state: 'uploading', answer: { output: { confirmedCount: 2, failedCount: 0 } } },
  'transferred 1 of 2': { state: 'uploading', answer: { output: { confirmedCount: 1, failedCount: 1 } } },
  'transferred 0 of 2': { state: 'uploading', answer: { output: { confirmedCount: 0, failedCount: 2 } } },
  'transfer refused after 1': { state: 'uploading', answer: { error: rejection(1) } },
  'transfer refused after 0': { state: 'uploading', answer: { error: rejection(0) } },
  'drained to pause': { state: 'pausing', answer: { output: undefined } },
  'drained, and all over': {
    state: 'pausing',
    answer: { output: { confirmedCount: 2, failedCount: 0 } },
  },
  'pause drain broke': { state: 'pausing', answer: { error: lost } },
  'drained to cancel': { state: 'cancelling.draining', answer: { output: undefined } },
  'cancel drain broke': { state: 'cancelling.draining', answer: { error: lost } },
  'service told': { state: 'cancelling.telling', answer: { output: { isServiceTold: true } } },
  'service not told': { state: 'cancelling.telling', answer: { output: { isServiceTold: false } } },
  'telling broke': { state: 'cancelling.telling', answer: { error: refused } },
  settled: { state: 'settling', answer: { output: undefined } },
  'settling broke': { state: 'settling', answer: { error: lost } },
}

/** A storage that is left alone for a while, or that is being tried just now. */
export function outageOf(untilMs: number | undefined): Outage {
  return { who: 'storage', host: 'storage.example:443', sinceMs: 0, untilMs, giveUpAtMs: 60_000 }
}
/** The event of one that is left alone. */
export const away: UploadSessionEvent = { type: 'host.unreachable', outage: outageOf(1_000) }

export const requests: readonly UploadSessionEvent[] = [
  { type: 'upload.pause' },
  { type: 'upload.resume' },
  { type: 'upload.cancel' },
  { type: 'upload.close' },
  { type: 'create.late' },
  away,
  { type: 'host.reachable' },
]

/** The event that xstate sends when the actor of a state ends, which is known by the state's path from its machine. Its type is internal to xstate. */
export function eventOf(state: string, answer: Answer) {
  const actor = `0.${state}`
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
    ([label, { state, answer }]) =>
      ({ ...eventOf(`uploadSession.${state}`, answer), label }) as unknown as UploadSessionEvent,
  ),
]
