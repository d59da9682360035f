// One request that has a time: an answer, or a clear word on why none came. It decides nothing.

import { TransportError, isUploadError } from '../core/errors.ts'
import type { Clock, Transport, TransportReply, TransportRequest } from '../core/ports.ts'
import { createDeadline } from './deadline.ts'

/**
 * Sends a request once. Rejects with the signal's reason when aborted, and with what a transport throws outside its contract.
 * Leaves no timer and no listener behind.
 */
export async function sendOnce(
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
  request: TransportRequest,
  /** `words`: who gave no answer to what. */
  limit: { readonly timeoutMs: number; readonly words: string },
): Promise<TransportReply | TransportError> {
  const { signal } = request
  signal.throwIfAborted()
  const tooLate = new Error('late')
  const deadline = createDeadline(clock, limit.timeoutMs, tooLate, signal)
  const timed = { ...request, signal: deadline.signal }
  try {
    return await transport.send(timed)
  } catch (error) {
    signal.throwIfAborted()
    if (isTransportError(error)) return error
    if (deadline.signal.reason !== tooLate) throw error
    const ending = transport.endingOf(timed)
    const phase = ending === 'neverWhole' ? 'send' : 'answer'
    const message = `${limit.words} within ${limit.timeoutMs / 1000} s.`
    return new TransportError('ERR_UPLOAD_TIMEOUT', message, { ending, phase })
  } finally {
    deadline.end()
  }
}

/** Also true for an error of another copy of the package. */
function isTransportError(error: unknown): error is TransportError {
  return isUploadError(error) && 'ending' in error && 'phase' in error
}
