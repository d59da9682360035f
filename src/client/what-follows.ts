// What follows a try without success: the failure after which another try may come, or the error that ends the call.

import { withDetails, type TransportError } from '../core/errors.ts'
import type { TransportReply } from '../core/ports.ts'
import { retryAfterOf } from '../core/retry-after.ts'
import type { ServiceCall } from './attempt.ts'
import { askedDetails, doubtfulEnd, reasonOf, statusError, unreachable } from './call-errors.ts'
import type { CallContext, CallLife } from './call-life.ts'
import type { Failure } from './persist.ts'
import { isDoubtfulMissing } from './send-once.ts'
import { isDoubtfulStatus } from './status.ts'

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
): Failure {
  const isAnswer = 'status' in outcome
  const isHeard = isAnswer ? isDoubtfulStatus(outcome.status) : isDoubtfulMissing(outcome)
  // A request that was heard may have been acted on, unless it only reads.
  const isDoubtful = isHeard && sent.kind !== 'read'
  life.isDoubtful ||= isDoubtful
  return isAnswer ? answered(context, life, outcome, isDoubtful) : unanswered(context, life, outcome, isDoubtful)
}

function answered(
  { clock, memory: { host } }: CallContext,
  life: CallLife,
  reply: TransportReply,
  isDoubtful: boolean,
): Failure {
  const error = statusError(life, reply, life.credential.secret, retryAfterOf(reply, clock.wallNow()))
  if (!error.isRetryable || (isDoubtful && life.kind === 'once')) throw error
  return { error, host, reason: `it answers ${reply.status}`, isDoubtful }
}

function unanswered(context: CallContext, life: CallLife, error: TransportError, isDoubtful: boolean): Failure {
  const { explain, memory, isFirstContactAwaited } = context
  const reason = reasonOf(error, explain)
  const isOffline = explain?.(error).isOffline || undefined
  life.isOffline ||= isOffline
  const isFirstContact = !memory.hasAnswered && !isFirstContactAwaited && !life.isOffline
  const isHidden = error.code === 'ERR_UPLOAD_ANSWER_HIDDEN'
  life.missingTries += Number(isFirstContact || isHidden)
  const isFew = life.missingTries < FEW_TRIES
  if (error.code === 'ERR_UPLOAD_REDIRECT_REFUSED' || (isHidden && !isFew)) throw withDetails(error, askedDetails(life))
  if (isDoubtful && life.kind === 'once') throw doubtfulEnd(life, error)
  // Hidden answers were dealt with above, so this is the first contact.
  if (!isFew) throw unreachable(memory, life, { error, reason })
  return { error, host: memory.host, reason, isDoubtful, isOffline, isCounted: isFirstContact }
}
