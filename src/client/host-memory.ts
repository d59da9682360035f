// What the calls to one host know of it together: whether it has ever answered, and since when they wait for it.

import type { TransportError } from '../core/errors.ts'
import type { OnWaiting, TransportReply } from '../core/ports.ts'
import { classOfStatus } from './status.ts'

export interface HostMemory {
  /** A host that has never answered is more likely misspelt than away. */
  readonly hasAnswered: boolean
  /** Hears how a try of any call ended. */
  hear(outcome: TransportReply | TransportError): void
  /** A listener for the waits of this call, which then tells as their beginning that of the first call that waits still. */
  join(call: object, onWaiting: OnWaiting | undefined): OnWaiting
  /** The call is over. What it knew of an outage may be long past when the next one begins. */
  leave(call: object): void
}

export function createHostMemory(): HostMemory {
  let hasAnswered = false
  /** The calls that wait, in the order in which they began to, with the wall time of the first. */
  const waiting = new Map<object, number>()
  return {
    get hasAnswered() {
      return hasAnswered
    },
    hear(outcome) {
      const isAnswer = 'status' in outcome
      hasAnswered ||= isAnswer || outcome.isUnreadable
      if (isAnswer && classOfStatus(outcome.status) !== 'again') waiting.clear()
    },
    join: (call, onWaiting) => (wait) => {
      const [sinceMs = wait?.sinceMs ?? 0] = waiting.values()
      if (wait) waiting.set(call, sinceMs)
      onWaiting?.(wait && Object.assign(wait, { sinceMs }))
    },
    leave: (call) => void waiting.delete(call),
  }
}
