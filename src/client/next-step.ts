// What comes next in a call, after an answer or the lack of one: wait and repeat, get a new credential, or fail. It
// waits for nothing and sends nothing itself.

import { summarize } from '../core/errors.ts'
import type { ErrorSummary, TransportError, UploadError } from '../core/errors.ts'
import type { Random, TransportReply } from '../core/ports.ts'
import { MAX_RETRY_AFTER_MS, backoffMs } from '../core/retry.ts'
import { parseRetryAfterMs } from '../core/retry-after.ts'
import type { AttemptPorts, ServiceCall } from './attempt.ts'
import type { CredentialHeader, CredentialHolder } from './credentials.ts'
import {
  classOfStatus,
  doubtfulEnd,
  exhausted,
  isDoubtfulMissing,
  isDoubtfulStatus,
  statusError,
  unreachable,
  withFacts,
} from './outcome.ts'
import type { CallFacts } from './outcome.ts'

/** Tries in all for a host that has never answered: it is more likely misspelt than away. */
const FIRST_CONTACT_TRIES = 3
const BASE_WAIT_MS = 500
const MAX_WAIT_MS = 30_000
const MAX_OUTAGE_WAIT_MS = 60_000
/** An outage is not asked about more often than this, whatever the dice say. */
const MIN_OUTAGE_WAIT_MS = 250

/** What the client tells while it works. `operation` is the name of the call. */
export type ServiceClientEvent =
  /** A call is repeated after `waitMs`. */
  | {
      readonly type: 'call.retrying'
      readonly operation: string
      readonly attempt: number
      readonly waitMs: number
      readonly error: ErrorSummary
    }
  /** The host is away since `sinceMs` (wall time); it is tried until `giveUpAtMs`, next after `waitMs`. */
  | {
      readonly type: 'host.waiting'
      readonly operation: string
      readonly host: string
      readonly sinceMs: number
      readonly giveUpAtMs: number
      readonly waitMs: number
      readonly error: ErrorSummary
    }
  /** A refused credential is asked for again. */
  | { readonly type: 'credentials.refreshing'; readonly operation: string }

export interface CallerOptions extends AttemptPorts {
  readonly random: Random
  readonly credentials: CredentialHolder
  /** `host:port`, for messages. */
  readonly host: string
  readonly retries: number
  readonly giveUpAfterMs: number
  readonly onEvent: (event: ServiceClientEvent) => void
}

/** What has happened to a call so far. */
export interface CallLife {
  attempts: number
  attemptsAnswered: number
  isDoubtful: boolean
  isRefreshed: boolean
  missingTries: number
  outageSinceMs: number | undefined
  outageTries: number
  /** Answered by 429 with a time to come back: not among `attemptsAnswered`. */
  throttledTries: number
  throttledSinceMs: number | undefined
}

export type Step =
  | { readonly kind: 'refresh' }
  | { readonly kind: 'wait'; readonly waitMs: number; readonly event: ServiceClientEvent }
  | { readonly kind: 'fail'; readonly error: UploadError }

/** After an answer that is no success. */
export function afterAnswer(
  options: CallerOptions,
  call: ServiceCall,
  now: { readonly life: CallLife; readonly reply: TransportReply; readonly credential: CredentialHeader },
): Step {
  const { life, reply, credential } = now
  const { clock, random, retries, giveUpAfterMs } = options
  const answerClass = classOfStatus(reply.status)
  if (answerClass === 'credentials' && options.credentials.canRefresh && !life.isRefreshed) {
    life.isRefreshed = true
    return { kind: 'refresh' }
  }
  const isDoubtful = isDoubtfulStatus(reply.status) && call.kind !== 'read'
  life.isDoubtful ||= isDoubtful
  const facts = factsOf(life, credential)
  if (answerClass !== 'again') return { kind: 'fail', error: statusError(call, reply, facts) }

  const retryAfterMs = parseRetryAfterMs(reply.headers['retry-after'], clock.wallNow())
  const isTooLong = retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS
  const error = statusError(call, reply, facts, { retryAfterMs, isTooLong })
  if (isDoubtful && call.kind === 'once') return { kind: 'fail', error }
  // Nothing was done, and many are told the same time to come back, of whom few get through: that uses up time, no attempt.
  const isThrottled = reply.status === 429 && retryAfterMs !== undefined && retries > 0
  const at = clock.monotonicNow()
  if (isThrottled) life.throttledTries += 1
  else life.attemptsAnswered += 1
  const isOver = isThrottled ? at - (life.throttledSinceMs ??= at) >= giveUpAfterMs : life.attemptsAnswered > retries
  if (isOver) return { kind: 'fail', error: exhausted(call, facts, error) }
  if (isTooLong) return { kind: 'fail', error }
  const attempt = life.attemptsAnswered + life.throttledTries
  const backoff = backoffMs({ attempt, baseMs: BASE_WAIT_MS, capMs: MAX_WAIT_MS, random })
  // Clients that were refused together should not come back together, so a little chance goes on top.
  const waitMs = Math.max(backoff, (retryAfterMs ?? 0) * (1 + random() / 10))
  return { kind: 'wait', waitMs, event: retrying(call, life, waitMs, error) }
}

/** After a try without an answer. */
export function afterMissing(
  options: CallerOptions,
  call: ServiceCall,
  now: {
    readonly life: CallLife
    readonly error: TransportError
    readonly credential: CredentialHeader
    readonly hasHostAnswered: boolean
  },
): Step {
  const { life, error, credential } = now
  const { random, retries, host } = options
  const isDoubtful = isDoubtfulMissing(error) && call.kind !== 'read'
  life.isDoubtful ||= isDoubtful
  life.missingTries += 1
  const facts = factsOf(life, credential)
  if (error.code === 'ERR_UPLOAD_REDIRECT_REFUSED') return { kind: 'fail', error: withFacts(call, facts, error) }
  if (isDoubtful && call.kind === 'once') return { kind: 'fail', error: doubtfulEnd(call, facts, error) }
  if (error.code === 'ERR_UPLOAD_ANSWER_HIDDEN') {
    // The host is there: waiting for it changes nothing, and a rule that is missing does not come by itself.
    life.attemptsAnswered += 1
    if (life.attemptsAnswered >= FIRST_CONTACT_TRIES) return { kind: 'fail', error: withFacts(call, facts, error) }
  } else if (!now.hasHostAnswered) {
    if (life.missingTries >= FIRST_CONTACT_TRIES)
      return { kind: 'fail', error: unreachable(call, facts, { host, cause: error }) }
  } else if (isDoubtful && call.kind === 'create') {
    // Each of these may leave an orphan, so they are counted like answers.
    life.attemptsAnswered += 1
    if (life.attemptsAnswered > retries) return { kind: 'fail', error: exhausted(call, facts, error) }
  } else return afterOutage(options, call, { life, error, facts })
  const waitMs = backoffMs({ attempt: life.attempts, baseMs: BASE_WAIT_MS, capMs: MAX_WAIT_MS, random })
  return { kind: 'wait', waitMs, event: retrying(call, life, waitMs, error) }
}

/** A host that was there is away: wait for it, up to the limit, with a last try at the limit. */
function afterOutage(
  options: CallerOptions,
  call: ServiceCall,
  now: { readonly life: CallLife; readonly error: TransportError; readonly facts: CallFacts },
): Step {
  const { clock, random, host, giveUpAfterMs } = options
  const { life, error, facts } = now
  const at = clock.monotonicNow()
  const since = (life.outageSinceMs ??= at)
  life.outageTries += 1
  const restMs = since + giveUpAfterMs - at
  if (restMs <= 0) return { kind: 'fail', error: unreachable(call, facts, { host, forMs: at - since, cause: error }) }
  const backoff = backoffMs({ attempt: life.outageTries, baseMs: BASE_WAIT_MS, capMs: MAX_OUTAGE_WAIT_MS, random })
  const waitMs = Math.min(Math.max(backoff, MIN_OUTAGE_WAIT_MS), restMs)
  const sinceMs = clock.wallNow() - (at - since)
  return {
    kind: 'wait',
    waitMs,
    event: {
      type: 'host.waiting',
      operation: call.operation,
      host,
      sinceMs,
      giveUpAtMs: sinceMs + giveUpAfterMs,
      waitMs,
      error: summarize(error),
    },
  }
}

function factsOf(life: CallLife, credential: CredentialHeader): CallFacts {
  return { attempts: life.attempts, isDoubtful: life.isDoubtful, secret: credential.secret }
}

function retrying(call: ServiceCall, life: CallLife, waitMs: number, error: UploadError): ServiceClientEvent {
  const { operation } = call
  return { type: 'call.retrying', operation, attempt: life.attempts, waitMs, error: summarize(error) }
}
