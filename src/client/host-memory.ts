// What all calls to one host know of it: whether it has ever answered, and since when they have been waiting for it.

import type { TransportError } from '../core/errors.ts'
import type { OnWaiting, TransportReply } from '../core/ports.ts'
import { classOfStatus } from './status.ts'

export interface HostMemory {
  /** `host:port`, for messages and journals. */
  readonly host: string
  /**
   * Whether the host has ever answered. One that has not is more likely misspelt than away. May be set by who knows that
   * it has answered an earlier run.
   */
  hasAnswered: boolean
  /** Each ends the wait of a call for the host to be back: it is tried again at once. */
  readonly wakes: Set<() => void>
  /** Takes note of how a try of any call ended. */
  hear(outcome: TransportReply | TransportError): void
  /** Wraps a call's listener. The waits it reports begin when the first call that is still waiting began to wait. */
  join(call: object, onWaiting: OnWaiting | undefined): OnWaiting
  /** Forgets a call that is over. The outage that it saw may be long past when the next call begins. */
  leave(call: object): void
}

export function createHostMemory(host: string): HostMemory {
  /**
   * The waiting calls in the order in which they began to wait. Each has the wall time at which the first of them
   * began.
   */
  const waiting = new Map<object, number>()
  const memory: HostMemory = {
    host,
    hasAnswered: false,
    wakes: new Set(),
    hear(outcome) {
      const isAnswer = 'status' in outcome
      memory.hasAnswered ||= isAnswer || outcome.isUnreadable
      if (isAnswer && classOfStatus(outcome.status) !== 'again') waiting.clear()
    },
    join: (call, onWaiting) => (wait) => {
      const [sinceMs = wait?.sinceMs ?? 0] = waiting.values()
      if (wait) waiting.set(call, sinceMs)
      return onWaiting?.(wait && Object.assign(wait, { sinceMs }))
    },
    leave: (call) => void waiting.delete(call),
  }
  return memory
}
