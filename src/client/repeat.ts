// One call until it has an answer that ends it: what is repeated, after how long, and when it is given up. An answer
// uses up an attempt; a host that is away, or answers that it takes nothing now, does not. Nothing is repeated that could
// be done twice at a cost.

import { isUploadError, withDetails, type TransportError } from '../core/errors.ts'
import type { HostWait, TransportReply } from '../core/ports.ts'
import { sleep } from '../core/time/sleep.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { attemptCall } from './attempt.ts'
import type { ServiceCall } from './attempt.ts'
import type { CredentialHeader } from './credentials.ts'
import { afterAnswer, afterMissing } from './next-step.ts'
import type { CallLife, CallerOptions, Step } from './next-step.ts'
import { brokenOff, classOfStatus, isAwayStatus, reasonOf } from './outcome.ts'
import type { CallOptions } from './operations.ts'

export interface CallResult {
  /** A 2xx. */
  readonly reply: TransportReply
  /** True when an earlier try may have been acted on too. */
  readonly isDoubtful: boolean
  /** The credential that was taken, to keep it out of messages about the reply. */
  readonly secret: string
}

export type Caller = (call: ServiceCall, options: CallOptions) => Promise<CallResult>

/** A person does not notice a shorter wait, ms. */
const TOLD_FROM_MS = 2_000

/** Makes the function that makes calls. It remembers whether the host has ever answered, and since when calls wait for it. */
export function createCaller(options: CallerOptions): Caller {
  const { clock } = options
  let hasHostAnswered = false
  /** The calls that wait, together and so since one wall time; what the last one that gave up knew may be long past. */
  const waiting = new Map<CallLife, number>()
  const run = async (
    life: CallLife,
    call: ServiceCall,
    { signal = new AbortController().signal, onWaiting }: CallOptions,
  ): Promise<CallResult> => {
    signal.throwIfAborted()
    const got = (asked: Promise<CredentialHeader>): Promise<CredentialHeader> =>
      unlessAborted(asked, signal).catch((error: unknown) => {
        // What an earlier try may have done it has done whether or not there is a credential for the next.
        throw isUploadError(error) && !signal.aborted ? withDetails(error, { isDoubtful: life.isDoubtful }) : error
      })
    let credential = await got(options.credentials.current())
    let isFreshConnection = false
    const [beganMs, beganWallMs] = [clock.monotonicNow(), clock.wallNow()]
    const tell = (wait?: HostWait): void => {
      try {
        onWaiting?.(wait)
      } catch {
        // A listener's mistake is not the call's.
      }
    }
    for (;;) {
      life.attempts += 1
      tell()
      const outcome = whole(await attemptCall(options, call, { credential, isFreshConnection, signal }), options)
      const isAnswer = 'status' in outcome
      let step: Step
      hasHostAnswered ||= isAnswer || outcome.isUnreadable
      if (isAnswer ? !isAwayStatus(outcome.status) : outcome.isUnreadable) {
        life.outageSinceMs = undefined
        life.outageTries = 0
      }
      if (isAnswer) {
        const answerClass = classOfStatus(outcome.status)
        if (answerClass !== 'again') waiting.clear()
        if (answerClass === 'success') return { reply: outcome, isDoubtful: life.isDoubtful, secret: credential.secret }
        step = afterAnswer(options, call, { life, reply: outcome, credential })
      } else step = afterMissing(options, call, { life, error: outcome, credential, hasHostAnswered })
      if (step.kind === 'fail') throw step.error
      isFreshConnection = !isAnswer
      if (step.kind === 'wait') {
        const { waitMs, giveUpAtMs } = step
        const [now, wallMs] = [clock.monotonicNow(), clock.wallNow()]
        if (now + waitMs - beganMs >= TOLD_FROM_MS) {
          const reason = isAnswer ? `it answers ${outcome.status}` : reasonOf(outcome, options.explain)
          const [sinceMs = beganWallMs] = waiting.values()
          waiting.set(life, sinceMs)
          tell({
            host: options.host,
            operation: call.operation,
            reason,
            isDoubtful: life.isDoubtful,
            sinceMs,
            untilMs: wallMs + waitMs,
            giveUpAtMs: giveUpAtMs && wallMs + giveUpAtMs - now,
          })
        }
        await sleep(clock, waitMs, signal)
      } else {
        credential = await got(options.credentials.refresh(credential))
      }
    }
  }
  return (call, options) => {
    const life: CallLife = {
      attempts: 0,
      attemptsAnswered: 0,
      isDoubtful: false,
      isRefreshed: false,
      isOffline: false,
      missingTries: 0,
      outageTries: 0,
    }
    return run(life, call, options).finally(() => waiting.delete(life))
  }
}

/** Of a success all must be there: what broke off may be the page of a proxy as well as what was asked for. */
function whole(
  outcome: TransportReply | TransportError,
  { maxReplyBytes }: CallerOptions,
): TransportReply | TransportError {
  const isBroken =
    'status' in outcome &&
    outcome.isBodyCut &&
    outcome.body.length < maxReplyBytes &&
    classOfStatus(outcome.status) === 'success'
  return isBroken ? brokenOff() : outcome
}
