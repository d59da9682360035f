// One call until it has an answer that ends it: what is repeated, after how long, and when it is given up. An answer
// uses up an attempt; a host that is away, or says when to come back (429), does not. Nothing is repeated that could be
// done twice at a cost.

import type { TransportReply } from '../core/ports.ts'
import { sleep } from '../core/time/sleep.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { attemptCall } from './attempt.ts'
import type { ServiceCall } from './attempt.ts'
import { afterAnswer, afterMissing } from './next-step.ts'
import type { CallLife, CallerOptions, ServiceClientEvent, Step } from './next-step.ts'
import { classOfStatus } from './outcome.ts'

export interface CallResult {
  /** A 2xx. */
  readonly reply: TransportReply
  /** True when an earlier try may have been acted on too. */
  readonly isDoubtful: boolean
  /** The credential that was taken, to keep it out of messages about the reply. */
  readonly secret: string
}

export type Caller = (call: ServiceCall, signal: AbortSignal) => Promise<CallResult>

/** Makes the function that makes calls. It remembers one thing: whether the host has ever answered. */
export function createCaller(options: CallerOptions): Caller {
  let hasHostAnswered = false
  return async (call, signal) => {
    const life: CallLife = {
      attempts: 0,
      attemptsAnswered: 0,
      isDoubtful: false,
      isRefreshed: false,
      missingTries: 0,
      outageSinceMs: undefined,
      outageTries: 0,
      throttledSinceMs: undefined,
      throttledTries: 0,
    }
    signal.throwIfAborted()
    let credential = await unlessAborted(options.credentials.current(), signal)
    let isFreshConnection = false
    for (;;) {
      life.attempts += 1
      const outcome = await attemptCall(options, call, { credential, isFreshConnection, signal })
      let step: Step
      if (outcome.kind === 'answered') {
        hasHostAnswered = true
        life.outageSinceMs = undefined
        life.outageTries = 0
        if (classOfStatus(outcome.reply.status) === 'success')
          return { reply: outcome.reply, isDoubtful: life.isDoubtful, secret: credential.secret }
        step = afterAnswer(options, call, { life, reply: outcome.reply, credential })
      } else {
        step = afterMissing(options, call, { life, error: outcome.error, credential, hasHostAnswered })
      }
      if (step.kind === 'fail') throw step.error
      isFreshConnection = outcome.kind === 'missing'
      if (step.kind === 'wait') {
        tell(options, step.event)
        await sleep(options.clock, step.waitMs, signal)
      } else {
        tell(options, { type: 'credentials.refreshing', operation: call.operation })
        credential = await unlessAborted(options.credentials.refresh(credential), signal)
      }
    }
  }
}

/** A listener's mistake is not the call's. */
function tell(options: CallerOptions, event: ServiceClientEvent): void {
  try {
    options.onEvent(event)
  } catch {
    // There is nobody to tell: the listener is the one who failed.
  }
}
