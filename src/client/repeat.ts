// One call until it has an answer that ends it: what is repeated, after how long, and when it is given up. An answer
// uses up an attempt; a host that is away, or says when to come back (429), does not. Nothing is repeated that could be
// done twice at a cost.

import type { HostWait, TransportReply } from '../core/ports.ts'
import { sleep } from '../core/time/sleep.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { attemptCall } from './attempt.ts'
import type { ServiceCall } from './attempt.ts'
import { afterAnswer, afterMissing } from './next-step.ts'
import type { CallLife, CallerOptions, Step } from './next-step.ts'
import { classOfStatus, reasonOf } from './outcome.ts'
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
    let credential = await unlessAborted(options.credentials.current(), signal)
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
      const outcome = await attemptCall(options, call, { credential, isFreshConnection, signal })
      let step: Step
      if (outcome.kind === 'answered') {
        hasHostAnswered = true
        life.outageSinceMs = undefined
        life.outageTries = 0
        const answerClass = classOfStatus(outcome.reply.status)
        if (answerClass !== 'again') waiting.clear()
        if (answerClass === 'success')
          return { reply: outcome.reply, isDoubtful: life.isDoubtful, secret: credential.secret }
        step = afterAnswer(options, call, { life, reply: outcome.reply, credential })
      } else {
        step = afterMissing(options, call, { life, error: outcome.error, credential, hasHostAnswered })
      }
      if (step.kind === 'fail') throw step.error
      isFreshConnection = outcome.kind === 'missing'
      if (step.kind === 'wait') {
        const { waitMs, giveUpAtMs } = step
        const [now, wallMs] = [clock.monotonicNow(), clock.wallNow()]
        if (now + waitMs - beganMs >= TOLD_FROM_MS) {
          const reason =
            outcome.kind === 'missing' ? reasonOf(outcome.error, options.explain) : `it answers ${outcome.reply.status}`
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
        credential = await unlessAborted(options.credentials.refresh(credential), signal)
      }
    }
  }
  return (call, options) => {
    const life: CallLife = {
      attempts: 0,
      attemptsAnswered: 0,
      isDoubtful: false,
      isRefreshed: false,
      missingTries: 0,
      outageTries: 0,
      throttledTries: 0,
    }
    return run(life, call, options).finally(() => waiting.delete(life))
  }
}
