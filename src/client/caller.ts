// Makes the calls of the service. A call is tried, each time with a credential, until something ends it. Between tries the
// service may be asked whether it is there. Nothing is repeated that could be done twice at a cost.

import { isTransportError, withDetails, type TransportError } from '../core/errors.ts'
import { onAbort } from '../core/on-abort.ts'
import type { OnWaiting, TransportReply } from '../core/ports.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { attemptCall, type ServiceCall } from './attempt.ts'
import { exhausted, unreachable } from './call-errors.ts'
import type { CallContext, CallLife } from './call-life.ts'
import type { CallOptions } from './operations.ts'
import { isAway, persist, type Failure, type Tried } from './persist.ts'
import { classOfStatus } from './status.ts'
import { whatFollows } from './what-follows.ts'

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
export function createCaller(context: CallContext): Caller {
  return (call, { signal, onWaiting, onUnheard }) => {
    const controller = new AbortController()
    const leaves = [context.signal, signal].map((each) => each && onAbort(each, () => controller.abort(each.reason)))
    const life: CallLife = {
      signal: controller.signal,
      credential: { name: '', value: '', secret: '' },
      isFreshConnection: false,
      attempts: 0,
      isDoubtful: false,
      missingTries: 0,
      ...call,
    }
    return live(context, life, onWaiting)
      .catch((error: unknown) => {
        if (error === life.signal.reason && !life.isDoubtful) onUnheard?.()
        throw error
      })
      .finally(() => {
        context.memory.leave(life)
        leaves.forEach((leave) => leave?.())
      })
  }
}

/** Tries until something ends the call. */
async function live(context: CallContext, life: CallLife, onWaiting: OnWaiting | undefined): Promise<CallResult> {
  const { memory } = context
  const ended = await persist(context, {
    operation: life.operation,
    signal: life.signal,
    onWaiting: memory.join(life, onWaiting),
    tryOnce: () => tryOnce(context, life),
    ask: life.kind === 'create' ? () => ask(context, life) : undefined,
  })
  if ('result' in ended) return ended.result
  const { failure, awayMs } = ended
  throw awayMs === undefined ? exhausted(life, failure.error) : unreachable(memory, life, failure, awayMs)
}

/** Makes the call once. If its credential is refused and there may be a newer one, makes it once more with that. */
async function tryOnce(context: CallContext, life: CallLife): Promise<Tried<CallResult, Failure>> {
  const { credentials } = context
  const { refused, signal } = life
  signal.throwIfAborted()
  try {
    life.credential = await unlessAborted(credentials.current(refused), signal)
  } catch (error) {
    signal.throwIfAborted()
    if (isTransportError(error)) return { failure: whatFollows(context, life, life, error) }
    // A failure still says whether an earlier try may have been acted on.
    throw withDetails(error, { isDoubtful: life.isDoubtful })
  }
  life.attempts += 1
  const outcome = await send(context, life, life)
  const answerClass = 'status' in outcome && classOfStatus(outcome.status)
  if (answerClass === 'success')
    return { result: { reply: outcome as TransportReply, isDoubtful: life.isDoubtful, secret: life.credential.secret } }
  // A call may wait so long for its service that the new credential dies as well.
  if (answerClass !== 'credentials') life.refused = undefined
  else if (credentials.canRefresh && !refused) {
    life.refused = life.credential
    return tryOnce(context, life)
  }
  return { failure: whatFollows(context, life, life, outcome) }
}

/** Asks whether the service is there, without reading the answer. Returns the failure if the service is away. */
async function ask(context: CallContext, life: CallLife): Promise<Failure | undefined> {
  const { question } = context
  const outcome = await send(context, question, life)
  return isAway(outcome) ? whatFollows(context, life, question, outcome) : undefined
}

/** Sends the call, or the question in its place. */
async function send(context: CallContext, sent: ServiceCall, life: CallLife): Promise<TransportReply | TransportError> {
  const outcome = await attemptCall(context, sent, life, () => (life.isDoubtful ||= sent === life))
  life.isFreshConnection = !('status' in outcome)
  context.memory.hear(outcome)
  return outcome
}
