// Makes the calls of the service: what each try means, and with which credential it goes out. Nothing is repeated that could
// be done twice at a cost.

import { isUploadError, withDetails, type TransportError, type UploadError } from '../core/errors.ts'
import type { Explain, TransportReply } from '../core/ports.ts'
import { isAwayStatus } from '../core/retry.ts'
import { parseRetryAfterMs } from '../core/retry-after.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { attemptCall, type AttemptPorts, type ServiceCall } from './attempt.ts'
import { detailsOf, doubtfulEnd, exhausted, reasonOf, statusError, unreachable } from './call-errors.ts'
import type { CredentialHeader, CredentialHolder } from './credentials.ts'
import { follow } from './deadline.ts'
import type { CallOptions } from './operations.ts'
import { isDoubtfulMissing } from './send-once.ts'
import { persist, type Failure, type Patience, type Tried } from './persist.ts'
import { classOfStatus, isDoubtfulStatus } from './status.ts'

export interface CallerOptions extends AttemptPorts, Patience {
  readonly credentials: CredentialHolder
  /** `host:port`, for messages. */
  readonly host: string
  /** A call that changes nothing, to ask whether the service is there. */
  readonly question: ServiceCall
  readonly isFirstContactAwaited?: boolean
  readonly explain?: Explain
  /** Ends all calls. */
  readonly signal?: AbortSignal
}

export interface CallResult {
  /** A 2xx. */
  readonly reply: TransportReply
  /** True when an earlier try may have been acted on too. */
  readonly isDoubtful: boolean
  /** The credential that was taken, to keep it out of messages about the reply. */
  readonly secret: string
}

export type Caller = (call: ServiceCall, options: CallOptions) => Promise<CallResult>

type Outcome = TransportReply | TransportError
type CallFailure = Failure & { readonly error: UploadError }

/** A call and what has happened to it so far. */
interface CallLife extends ServiceCall {
  attempts: number
  isDoubtful: boolean
  /** This machine was without a network at one of the tries: that is in the way then, and no misspelt address. */
  isOffline: boolean
  /** Without an answer at first contact, or with one that is hidden: what tells of an address or a rule, and of no outage. */
  missingTries: number
}

/** Tries for a host that has never answered, since it is more likely misspelt than away, and for a rule that hides its answers. */
const FEW_TRIES = 3

/** Makes the function that makes calls. It remembers whether the host has ever answered, and since when calls wait for it. */
export function createCaller(options: CallerOptions): Caller {
  const { host, question } = options
  let hasHostAnswered = false
  /** The calls that wait, together and so since one wall time; what the last one that gave up knew may be long past. */
  const waiting = new Map<CallLife, number>()

  const run = async (life: CallLife, { signal, onWaiting }: CallOptions & { signal: AbortSignal }) => {
    signal.throwIfAborted()
    const got = (asked: Promise<CredentialHeader>): Promise<CredentialHeader> =>
      unlessAborted(asked, signal).catch((error: unknown) => {
        // What an earlier try may have done it has done whether or not there is a credential for the next.
        throw isUploadError(error) && !signal.aborted ? withDetails(error, { isDoubtful: life.isDoubtful }) : error
      })
    let credential = await got(options.credentials.current())
    let isRefreshed = false
    let isFreshConnection = false

    const tryOnce = async (isQuestion: boolean): Promise<Tried<CallResult | undefined, CallFailure>> => {
      life.attempts += Number(!isQuestion)
      const sent = isQuestion ? question : life
      const outcome = await attemptCall(options, sent, { credential, isFreshConnection, signal })
      const isAnswer = 'status' in outcome
      isFreshConnection = !isAnswer
      hasHostAnswered ||= isAnswer || outcome.isUnreadable
      const answerClass = isAnswer ? classOfStatus(outcome.status) : 'again'
      if (answerClass !== 'again') waiting.clear()
      if (isQuestion && !isAway(outcome)) return { result: undefined }
      if (isAnswer && answerClass === 'success')
        return { result: { reply: outcome, isDoubtful: life.isDoubtful, secret: credential.secret } }
      if (answerClass === 'credentials' && options.credentials.canRefresh && !isRefreshed) {
        isRefreshed = true
        credential = await got(options.credentials.refresh(credential))
        return tryOnce(false)
      }
      const isHeard = isAnswer ? isDoubtfulStatus(outcome.status) : isDoubtfulMissing(outcome)
      const isDoubtful = isHeard && sent.kind !== 'read'
      life.isDoubtful ||= isDoubtful
      const failure = isAnswer
        ? answered(options, life, outcome, { isDoubtful, secret: credential.secret })
        : unanswered(options, life, outcome, { isDoubtful, hasHostAnswered })
      return { failure }
    }

    const ended = await persist(
      options,
      {
        operation: life.operation,
        leavesOrphans: life.kind === 'create',
        signal,
        onWaiting(wait) {
          const [sinceMs = wait?.sinceMs ?? 0] = waiting.values()
          if (wait) waiting.set(life, sinceMs)
          onWaiting?.(wait && Object.assign(wait, { sinceMs }))
        },
      },
      tryOnce,
    )
    if ('result' in ended) return ended.result as CallResult
    const { failure, awayMs } = ended
    throw awayMs === undefined
      ? exhausted(life, failure.error)
      : unreachable(life, failure.error, { host, awayMs, reason: failure.reason, hasHostAnswered })
  }
  return (call, { signal, onWaiting }) => {
    const { controller, leave } = follow([options.signal, signal])
    const life = {
      attempts: 0,
      isDoubtful: false,
      isOffline: false,
      missingTries: 0,
      ...call,
    }
    return run(life, { signal: controller.signal, onWaiting }).finally(() => {
      leave()
      waiting.delete(life)
    })
  }
}

/** What follows an answer that is no success; throws its error where nothing does. */
function answered(
  { clock, host, retries }: CallerOptions,
  life: CallLife,
  reply: TransportReply,
  { isDoubtful, secret }: { readonly isDoubtful: boolean; readonly secret: string },
): CallFailure {
  const retryAfterMs = parseRetryAfterMs(reply.headers['retry-after'], clock.wallNow())
  const error = statusError(life, reply, secret, retryAfterMs)
  if (!error.isRetryable || (isDoubtful && life.kind === 'once')) throw error
  // Who wants no repetition does not wait either.
  const isAway = isAwayStatus(reply.status) && retries > 0
  return { error, host, reason: `it answers ${reply.status}`, isAway, isDoubtful, retryAfterMs }
}

/** What follows a try without an answer; throws its error where nothing does. */
function unanswered(
  { host, explain, isFirstContactAwaited = false }: CallerOptions,
  life: CallLife,
  error: TransportError,
  { isDoubtful, hasHostAnswered }: { readonly isDoubtful: boolean; readonly hasHostAnswered: boolean },
): CallFailure {
  const reason = reasonOf(error, explain)
  life.isOffline ||= explain?.(error).isOffline ?? false
  const isFirstContact = !hasHostAnswered && !isFirstContactAwaited && !life.isOffline
  const isHidden = error.code === 'ERR_UPLOAD_ANSWER_HIDDEN'
  life.missingTries += Number(isFirstContact || isHidden)
  const isFew = life.missingTries < FEW_TRIES
  if (error.code === 'ERR_UPLOAD_REDIRECT_REFUSED' || (isHidden && !isFew)) throw withDetails(error, detailsOf(life))
  if (isDoubtful && life.kind === 'once') throw doubtfulEnd(life, error)
  if (isFirstContact && !isFew) throw unreachable(life, error, { host, awayMs: undefined, reason, hasHostAnswered })
  return { error, host, reason, isAway: isAway(error), isDoubtful }
}

/** Nobody is there, or takes anything now. What cannot be read, or leads elsewhere, is an answer. */
function isAway(outcome: Outcome): boolean {
  if ('status' in outcome) return isAwayStatus(outcome.status)
  return !outcome.isUnreadable && outcome.code !== 'ERR_UPLOAD_REDIRECT_REFUSED'
}
