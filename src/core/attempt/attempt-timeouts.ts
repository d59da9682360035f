// How long an attempt may wait where the transport reports no live progress, or where the platform queues requests unseen.

import type { Transport } from '../ports.ts'
import type { AttemptTimeouts } from './watchdog.ts'

/** The slowest line that an attempt without live progress gets time for, bytes per second. */
const SLOWEST_BYTES_PER_SECOND = 8_192

/** How long a request may wait in a queue of the platform that we cannot see, ms. */
const UNSEEN_QUEUE_MS = 300_000

export function timeoutsFor(
  { transport, timeouts }: { readonly transport: Transport; readonly timeouts: AttemptTimeouts },
  lengthBytes: number,
): AttemptTimeouts {
  const { stallMs, answerMs } = timeouts
  const connectMs = transport.hasQueue === true ? Math.max(timeouts.connectMs, UNSEEN_QUEUE_MS) : timeouts.connectMs
  // Nothing is heard before the answer: its wait, too, seems to be one for the connection.
  const unheardMs = (transport.isProgressLive ?? true) ? 0 : answerMs + (lengthBytes / SLOWEST_BYTES_PER_SECOND) * 1_000
  return { connectMs: connectMs + unheardMs, stallMs: stallMs + unheardMs, answerMs: answerMs + unheardMs }
}
