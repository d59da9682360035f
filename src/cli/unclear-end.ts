// A call of the service that ends without a clear answer: what it changes there may have been changed all the same.

import type { CallOptions } from '../client/operations.ts'
import { isUploadError, wasDoubtful } from '../core/errors.ts'
import type { Interruption } from './signals.ts'
import { waitingCall, type WaitingCall } from './views/waiting-call.ts'
import type { Output } from './views/output.ts'

/**
 * Makes a call. If it may have been done although it has no answer, `doubt` says so on stderr, and how to look. A call that only reads
 * needs none. Rejects as the call does.
 */
export async function called<T>(
  { output, interruption }: { readonly output: Output; readonly interruption: Interruption },
  call: (calling: CallOptions) => Promise<T>,
  doubt: string | undefined,
): Promise<T> {
  const calling = waitingCall(output, interruption)
  try {
    return await call(calling)
  } catch (error) {
    if (doubt !== undefined && mayBeDone(error, calling, interruption)) output.complain(doubt)
    throw error
  }
}

/** Whether a call that ended with `error` may have been done. */
export function mayBeDone(error: unknown, { mayHaveArrived }: WaitingCall, { signal }: Interruption): boolean {
  return signal.aborted ? mayHaveArrived : isDoubtful(error)
}

/** What the client says of a call that it gave up, or of one that lies behind the error of a whole flow. */
export function isDoubtful(error: unknown): boolean {
  return wasDoubtful(error) || (isUploadError(error) && isDoubtful(error.cause))
}
