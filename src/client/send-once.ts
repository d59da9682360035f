// One request with a time limit: an answer, or a clear word on why none came. What follows is decided elsewhere.

import { isTransportError, TransportError } from '../core/errors.ts'
import type { Clock, Transport, TransportReply, TransportRequest } from '../core/ports.ts'
import { createTimeLimit } from '../core/time/time-limit.ts'

/**
 * Sends a request once. Rejects with the signal's reason when aborted, and with whatever a transport throws outside its
 * contract. Leaves no timer and no listener behind.
 */
export async function sendOnce(
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
  request: TransportRequest,
  /** Who is asked to do what, for a message, and how long the answer may take. */
  asked: {
    readonly who: 'service' | 'storage'
    readonly words: string
    readonly timeoutMs: number
    /** Called when it is aborted after the far end may have received all of it. */
    readonly onHeard?: () => void
  },
): Promise<TransportReply | TransportError> {
  const { signal } = request
  signal.throwIfAborted()
  const deadline = createTimeLimit(clock, asked.timeoutMs, () => new Error('late'), signal)
  const timed = { ...request, signal: deadline.signal, onStarted: () => deadline.restart(asked.timeoutMs) }
  try {
    return await transport.send(timed)
  } catch (error) {
    if (signal.aborted && transport.endingOf(timed) === 'doubtful') asked.onHeard?.()
    signal.throwIfAborted()
    if (isTransportError(error)) return error
    if (!deadline.signal.aborted) throw error
    const ending = transport.endingOf(timed)
    const phase = ending === 'neverWhole' ? 'send' : 'answer'
    const message = `The ${asked.who} gave no answer within ${asked.timeoutMs / 1000} s when asked to ${asked.words}.`
    return new TransportError('ERR_UPLOAD_TIMEOUT', message, { ending, phase })
  } finally {
    deadline.end()
  }
}

/** True if the far end may have received the whole request. */
export function isDoubtfulMissing({ phase, ending }: TransportError): boolean {
  return phase !== 'connect' && ending === 'doubtful'
}
