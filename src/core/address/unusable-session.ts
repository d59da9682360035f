// A session that the service opened but that cannot be used. The error that refuses its addresses names it, so that the service
// can be told that nobody will upload to it.

import { withDetails } from '../errors.ts'
import type { CreatedSession } from '../ports.ts'

/**
 * Returns what `look` returns. Its errors, those of a host's protocol included, name the session in `details.sessionId`;
 * `details.isDoubtful` says that an earlier try may have opened one more.
 */
export function whereUsable<T>({ sessionId, hasPossibleOrphan: isDoubtful }: CreatedSession, look: () => T): T {
  try {
    return look()
  } catch (cause) {
    throw withDetails(cause, { isDoubtful, sessionId })
  }
}
