// Makes the calls of the service. A call gets a credential and is then tried until something ends it. Between tries the
// service may be asked whether it is there. Nothing is repeated that could be done twice at a cost.

import { isUploadError, withDetails, type TransportError } from '../core/errors.ts'
import type { OnWaiting, TransportReply } from '../core/ports.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { attemptCall, type ServiceCall } from './attempt.ts'
import { exhausted, unreachable } from './call-errors.ts'
import type { CallContext, CallerOptions, CallLife } from './call-life.ts'
import type { CredentialHeader } from './credentials.ts'
import { follow } from './deadline.ts'
import { createHostMemory } from './host-memory.ts'
import type { CallOptions } from './operations.ts'
import { persist, type Tried } from './persist.ts'
import { classOfStatus } from './status.ts'
import { isAway, whatFollows, type CallFailure } from './what-follows.ts'

export interface CallResult {
  /** A 2xx. */
  readonly reply: TransportReply
  /** True if an earlier try may have been acted on, too. */
  readonly isDoubtful: boolean
  /** The credential that was used, so that messages about the reply can leave it out. */
  readonly secret: string
}

export type Caller = (call: ServiceCall, options: CallOptions) => Promise<CallResult>

/** Makes the function that makes calls. */
export function createCaller(options: CallerOptions): Caller {
  const context: CallContext = { ...options, memory: createHostMemory() }
  return (call, { signal, onWaiting }) => {
    const { controller, leave } = follow([options.signal, signal])
    return begin(context, call, controller.signal, onWaiting).finally(leave)
  }
}

/** Gets the call its credential, then runs it. */
async function begin(
  context: CallContext,
  call: ServiceCall,
  signal: AbortSignal,
  onWaiting: OnWaiting | undefined,
): Promise<CallResult> {
  signal.throwIfAborted()
  const life: CallLife = {
    signal,
    credential: await obtained(context.credentials.current(), { signal, isDoubtful: false }),
    isCredentialRenewed: false,
    isFreshConnection: false,
    attempts: 0,
    isDoubtful: false,
    missingTries: 0,
    ...call,
  }
  return live(context, life, onWaiting).finally(() => context.memory.leave(life))
}

/** Tries until something ends the call. */
async function live(context: CallContext, life: CallLife, onWaiting: OnWaiting | undefined): Promise<CallResult> {
  const { host, memory } = context
  const ended = await persist(context, {
    operation: life.operation,
    signal: life.signal,
    onWaiting: memory.join(life, onWaiting),
    tryOnce: () => tryOnce(context, life),
    ask: life.kind === 'create' ? () => ask(context, life) : undefined,
  })
  if ('result' in ended) return ended.result
  const { error, reason } = ended.failure
  if (ended.awayMs === undefined) throw exhausted(life, error)
  throw unreachable(life, error, { host, awayMs: ended.awayMs, reason, hasHostAnswered: memory.hasAnswered })
}

/** Makes the call once. If its credential is refused and there may be a newer one, makes it once more with that. */
async function tryOnce(context: CallContext, life: CallLife): Promise<Tried<CallResult, CallFailure>> {
  const { credentials } = context
  const { credential } = life
  life.attempts += 1
  const outcome = await send(context, life, life)
  const answerClass = 'status' in outcome && classOfStatus(outcome.status)
  if (answerClass === 'success')
    return { result: { reply: outcome as TransportReply, isDoubtful: life.isDoubtful, secret: credential.secret } }
  if (answerClass === 'credentials' && credentials.canRefresh && !life.isCredentialRenewed) {
    life.isCredentialRenewed = true
    life.credential = await obtained(credentials.refresh(credential), life)
    return tryOnce(context, life)
  }
  return { failure: whatFollows(context, life, life, outcome) }
}

/** Asks whether the service is there, without reading the answer. Returns the failure if the service is away. */
async function ask(context: CallContext, life: CallLife): Promise<CallFailure | undefined> {
  const { question } = context
  const outcome = await send(context, question, life)
  return isAway(outcome) ? whatFollows(context, life, question, outcome) : undefined
}

/** Sends the call, or the question in its place. */
async function send(context: CallContext, sent: ServiceCall, life: CallLife): Promise<TransportReply | TransportError> {
  const outcome = await attemptCall(context, sent, life)
  life.isFreshConnection = !('status' in outcome)
  context.memory.hear(outcome)
  return outcome
}

/** Waits for the credential. A failure still says whether an earlier try may have been acted on. */
async function obtained(
  asked: Promise<CredentialHeader>,
  { signal, isDoubtful }: Pick<CallLife, 'signal' | 'isDoubtful'>,
): Promise<CredentialHeader> {
  try {
    return await unlessAborted(asked, signal)
  } catch (error) {
    throw isUploadError(error) && !signal.aborted ? withDetails(error, { isDoubtful }) : error
  }
}
