// What follows a try without success: the failure after which another try may come, or the error that ends the call.

import { withDetails, type TransportError, type UploadError } from '../core/errors.ts'
import type { TransportReply } from '../core/ports.ts'
import { isAwayStatus } from '../core/retry.ts'
import { retryAfterOf } from '../core/retry-after.ts'
import type { ServiceCall } from './attempt.ts'
import { detailsOf, doubtfulEnd, reasonOf, statusError, unreachable } from './call-errors.ts'
import type { CallContext, CallLife } from './call-life.ts'
import type { Failure } from './persist.ts'
import { isDoubtfulMissing } from './send-once.ts'
import { isDoubtfulStatus } from './status.ts'

export type CallFailure = Failure & { readonly error: UploadError }

/**
 * The most tries for a host that has never answered, since it is more likely misspelt than away, and for answers that a
 * CORS rule hides.
 */
const FEW_TRIES = 3

/** `sent` is the call, or the question in its place. Throws the error of a call that is over. */
export function whatFollows(
  context: CallContext,
  life: CallLife,
  sent: ServiceCall,
  outcome: TransportReply | TransportError,
): CallFailure {
  const isAnswer = 'status' in outcome
  const isHeard = isAnswer ? isDoubtfulStatus(outcome.status) : isDoubtfulMissing(outcome)
  // A request that was heard may have been acted on, unless it only reads.
  const isDoubtful = isHeard && sent.kind !== 'read'
  life.isDoubtful ||= isDoubtful
  return isAnswer ? answered(context, life, outcome, isDoubtful) : unanswered(context, life, outcome, isDoubtful)
}

function answered(
  { clock, memory: { host }, retries }: CallContext,
  life: CallLife,
  reply: TransportReply,
  isDoubtful: boolean,
): CallFailure {
  const retryAfterMs = retryAfterOf(reply, clock.wallNow())
  const error = statusError(life, reply, life.credential.secret, retryAfterMs)
  if (!error.isRetryable || (isDoubtful && life.kind === 'once')) throw error
  // A caller that wants no repetition does not want to wait either.
  const { status } = reply
  const isAway = isAwayStatus(status) && retries > 0
  return { error, host, status, reason: `it answers ${status}`, isAway, isDoubtful, retryAfterMs }
}

function unanswered(context: CallContext, life: CallLife, error: TransportError, isDoubtful: boolean): CallFailure {
  const { explain, memory, isFirstContactAwaited } = context
  const reason = reasonOf(error, explain)
  const isOffline = explain?.(error).isOffline || undefined
  life.isOffline ||= isOffline
  const isFirstContact = !memory.hasAnswered && !isFirstContactAwaited && !life.isOffline
  const isHidden = error.code === 'ERR_UPLOAD_ANSWER_HIDDEN'
  life.missingTries += Number(isFirstContact || isHidden)
  const isFew = life.missingTries < FEW_TRIES
  if (error.code === 'ERR_UPLOAD_REDIRECT_REFUSED' || (isHidden && !isFew)) throw withDetails(error, detailsOf(life))
  if (isDoubtful && life.kind === 'once') throw doubtfulEnd(life, error)
  // Hidden answers were dealt with above, so this is the first contact.
  if (!isFew) throw unreachable(memory, life, { error, reason })
  return { error, host: memory.host, reason, isAway: !error.isUnreadable, isDoubtful, isOffline }
}

/**
 * Whether nobody is there, or nothing is accepted now. An answer that cannot be read, or that redirects, is still an
 * answer.
 */
export function isAway(outcome: TransportReply | TransportError): boolean {
  if ('status' in outcome) return isAwayStatus(outcome.status)
  return !outcome.isUnreadable && outcome.code !== 'ERR_UPLOAD_REDIRECT_REFUSED'
}
