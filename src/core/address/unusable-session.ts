// A session that the service opened and that cannot be used: whoever refuses its addresses says which it is, so that the service
// can be told that nobody will upload to it.

import { withDetails } from '../errors.ts'
import type { CreatedSession } from '../ports.ts'

/**
 * What `look` gives. Its errors, those of a host's protocol as well, name the session in `details.sessionId`; `details.isDoubtful`:
 * an earlier try may have opened one more.
 */
export function whereUsable<T>({ sessionId, hasPossibleOrphan: isDoubtful }: CreatedSession, look: () => T): T {
  try {
    return look()
  } catch (cause) {
    throw withDetails(cause, { isDoubtful, sessionId })
  }
}
