// What comes next in a call, after an answer or the lack of one: wait and repeat, get a new credential, or fail. It
// waits for nothing and sends nothing itself.

import type { HttpStatusError, TransportError, UploadError } from '../core/errors.ts'
import type { Explain, Random, TransportReply } from '../core/ports.ts'
import { MAX_RETRY_AFTER_MS, backoffMs } from '../core/retry.ts'
import { parseRetryAfterMs } from '../core/retry-after.ts'
import type { AttemptPorts, ServiceCall } from './attempt.ts'
import type { CredentialHeader, CredentialHolder } from './credentials.ts'
import {
  classOfStatus,
  doubtfulEnd,
  exhausted,
  isAwayStatus,
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

export interface CallerOptions extends AttemptPorts {
  readonly random: Random
  readonly credentials: CredentialHolder
  /** `host:port`, for messages. */
  readonly host: string
  readonly retries: number
  readonly giveUpAfterMs: number
  readonly isFirstContactAwaited?: boolean
  readonly explain?: Explain
}

/** What has happened to a call so far. */
export interface CallLife {
  attempts: number
  attemptsAnswered: number
  isDoubtful: boolean
  isRefreshed: boolean
  /** This machine was without a network at one of the tries: that is in the way then, and no misspelt address. */
  isOffline: boolean
  /** At first contact. */
  missingTries: number
  outageSinceMs?: number | undefined
  outageTries: number
}

export type Step =
  | { readonly kind: 'refresh' }
  | {
      readonly kind: 'wait'
      readonly waitMs: number
      /** Monotonic; of an outage. */
      readonly giveUpAtMs?: number | undefined
    }
  | { readonly kind: 'fail'; readonly error: UploadError }

/** After an answer that is no success. */
export function afterAnswer(
  options: CallerOptions,
  call: ServiceCall,
  now: { readonly life: CallLife; readonly reply: TransportReply; readonly credential: CredentialHeader },
): Step {
  const { life, reply, credential } = now
  const { clock, random, retries } = options
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
  const error = statusError(call, reply, facts, retryAfterMs)
  if (isDoubtful && call.kind === 'once') return { kind: 'fail', error }
  // Clients that were refused together should not come back together, so a little chance goes on top.
  const askedMs = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) * (1 + random() / 10)
  // Each doubtful create may leave an orphan; anything else that a host which is away did not take is done once it is back.
  if (isAwayStatus(reply.status) && retries > 0 && !(isDoubtful && call.kind === 'create'))
    return afterOutage(options, call, { life, error, facts, askedMs })
  life.attemptsAnswered += 1
  if (life.attemptsAnswered > retries) return { kind: 'fail', error: exhausted(call, facts, error) }
  const backoff = backoffMs({ attempt: life.attemptsAnswered, baseMs: BASE_WAIT_MS, capMs: MAX_WAIT_MS, random })
  return { kind: 'wait', waitMs: Math.max(backoff, askedMs) }
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
  const { random, retries, explain } = options
  const isDoubtful = isDoubtfulMissing(error) && call.kind !== 'read'
  life.isDoubtful ||= isDoubtful
  const facts = factsOf(life, credential)
  if (error.code === 'ERR_UPLOAD_REDIRECT_REFUSED') return { kind: 'fail', error: withFacts(call, facts, error) }
  if (isDoubtful && call.kind === 'once') return { kind: 'fail', error: doubtfulEnd(call, facts, error) }
  life.isOffline ||= explain?.(error).isOffline ?? false
  const isFirstContact = !now.hasHostAnswered && !options.isFirstContactAwaited && !life.isOffline
  if (isFirstContact) {
    life.missingTries += 1
    if (life.missingTries >= FIRST_CONTACT_TRIES)
      return { kind: 'fail', error: unreachable(call, facts, { ...options, error }) }
  } else if (error.isUnreadable || (isDoubtful && call.kind === 'create')) {
    // The host is there, and waiting for it changes nothing; or each of these may leave an orphan.
    life.attemptsAnswered += 1
    // A rule that hides the answer does not change by itself.
    const isHidden = error.code === 'ERR_UPLOAD_ANSWER_HIDDEN'
    if (isHidden && life.attemptsAnswered >= FIRST_CONTACT_TRIES)
      return { kind: 'fail', error: withFacts(call, facts, error) }
    if (life.attemptsAnswered > retries) return { kind: 'fail', error: exhausted(call, facts, error) }
  } else return afterOutage(options, call, { ...now, facts })
  const waitMs = backoffMs({ attempt: life.attempts, baseMs: BASE_WAIT_MS, capMs: MAX_WAIT_MS, random })
  return { kind: 'wait', waitMs }
}

/** A host that is away, or as good as away: wait for it, up to the limit, with a last try at the limit. */
function afterOutage(
  options: CallerOptions,
  call: ServiceCall,
  now: {
    readonly life: CallLife
    readonly error: TransportError | HttpStatusError
    readonly facts: CallFacts
    /** Sooner it is not asked again. */
    readonly askedMs?: number
    readonly hasHostAnswered?: boolean
  },
): Step {
  const { clock, random, giveUpAfterMs } = options
  const { life, facts, askedMs = 0 } = now
  const at = clock.monotonicNow()
  const since = (life.outageSinceMs ??= at)
  life.outageTries += 1
  const restMs = since + giveUpAfterMs - at
  if (restMs <= 0) {
    return { kind: 'fail', error: unreachable(call, facts, { ...options, ...now, forMs: at - since }) }
  }
  const backoff = backoffMs({ attempt: life.outageTries, baseMs: BASE_WAIT_MS, capMs: MAX_OUTAGE_WAIT_MS, random })
  const waitMs = Math.min(Math.max(backoff, askedMs, MIN_OUTAGE_WAIT_MS), restMs)
  return { kind: 'wait', waitMs, giveUpAtMs: since + giveUpAfterMs }
}

function factsOf(life: CallLife, credential: CredentialHeader): CallFacts {
  return { attempts: life.attempts, isDoubtful: life.isDoubtful, secret: credential.secret }
}
