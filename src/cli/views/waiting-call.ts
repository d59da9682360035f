// A single call of the service, as a command makes it. It ends when the process is stopped, and says if the service is waited for.

import type { CallOptions } from '../../client/operations.ts'
import type { Interruption } from '../signals.ts'
import { asOutage } from '../../flows/waits.ts'
import { outageTeller } from './change-lines.ts'
import { outageFields } from './json-lines.ts'
import type { Output } from './output.ts'

/** The options of such a call. A person is told on stderr, because stdout has the service's own document, for a program to read. */
export function waitingCall(output: Output, { signal }: Interruption): CallOptions {
  const isForPerson = output.mode === 'lines' || output.mode === 'terminal'
  const say = outageTeller((text) => (isForPerson ? output.complain(text) : undefined))
  return {
    signal,
    onWaiting(wait) {
      if (!wait) return
      const outage = asOutage(wait)
      output.event('waiting', outageFields(outage))
      say(outage)
    },
  }
}
