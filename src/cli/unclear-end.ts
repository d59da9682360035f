// A call of the service that ends without a clear answer: what it changes there may have been changed all the same.

import type { CallOptions } from '../client/operations.ts'
import { isUploadError, wasDoubtful } from '../core/errors.ts'
import type { CommandContext } from './command-context.ts'
import type { Interruption } from './signals.ts'
import { waitingCall, type WaitingCall } from './views/waiting-call.ts'
import type { Output } from './views/output.ts'

/** What to say of a call that may have been done although it has no answer. */
export interface Doubt {
  /** For a person, on stderr: what may be, and how to look. */
  readonly words: string
  /** For a program: this field of the result is then present and true. */
  readonly field: 'hasPossibleSubmit' | 'hasPossibleSegment' | 'hasPossibleChange'
}

/** Makes a call, and tells the doubt if there is one at its end. A call that only reads has none. Rejects as the call does. */
export async function called<T>(
  { interruption, addToResult }: Pick<CommandContext, 'interruption' | 'addToResult'>,
  output: Output,
  call: (calling: CallOptions) => Promise<T>,
  doubt: Doubt | undefined,
): Promise<T> {
  const calling = waitingCall(output, interruption)
  try {
    return await call(calling)
  } catch (error) {
    if (doubt !== undefined && mayBeDone(error, calling, interruption)) {
      output.complain(doubt.words)
      addToResult({ [doubt.field]: true })
    }
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
