// A single call of the service, as a command makes it. It ends when the process is stopped, and says if the service is waited for.

import type { CallOptions } from '../../client/operations.ts'
import type { Interruption } from '../signals.ts'
import { asOutage } from '../../flows/waits.ts'
import { outageTeller } from './change-lines.ts'
import { outageFields } from './json-lines.ts'
import type { Output } from './output.ts'

export interface WaitingCall extends CallOptions {
  /** Whether a try is under way, or an earlier one may have been heard. */
  readonly mayHaveArrived: boolean
}

/**
 * The options of such a call. A person is told by `tell`. Default: on stderr, because stdout has the service's own document, for a
 * program to read.
 */
export function waitingCall(
  output: Output,
  { signal }: Interruption,
  tell: (text: string) => void = (text) => output.complain(text),
): WaitingCall {
  const isForPerson = output.mode === 'lines' || output.mode === 'terminal'
  const say = outageTeller((text) => (isForPerson ? tell(text) : undefined))
  let mayHaveArrived = false
  return {
    signal,
    get mayHaveArrived() {
      return mayHaveArrived
    },
    onWaiting(wait) {
      mayHaveArrived = wait?.isDoubtful ?? true
      if (!wait) return
      const outage = asOutage(wait)
      output.event('waiting', outageFields(outage))
      say(outage)
    },
  }
}
