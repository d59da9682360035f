// Asks the service for a session, either the first one of an upload or one for files whose addresses died, and takes it only if
// its addresses may be used. What a failure leaves behind at the service is journalled before anybody hears of the failure.

import { whereUsable } from '../core/address/unusable-session.ts'
import { detailsOf, UploadError, withDetails } from '../core/errors.ts'
import { isKeepableId } from '../core/journal/found-records.ts'
import type { CreatedSession, OnWaiting, PlannedFile } from '../core/ports.ts'
import { nextTask } from '../core/time/next-task.ts'
import { checkAddressed, checkGivenId } from './check-addressed.ts'
import type { DrivenSession } from './driven-session.ts'
import { callProtocol } from './protocol-call.ts'

/** From so many files on, to read the answer and to check it is one task each: together they held a page's thread for 0.1 s and more. */
const MANY_FILES = 1_000

/** The intent must already be in the journal. Rejects as `create` does, and as `checkAddressed` does for unusable addresses. */
export async function openSession(
  session: DrivenSession,
  plans: readonly PlannedFile[],
  signal: AbortSignal,
  /** Fires with `signal`, or before it when nobody wants the session any more: a create under way may then still finish. */
  looking = signal,
): Promise<CreatedSession> {
  const { record, protocol } = session
  // What replaces a session takes files that have had their turn.
  const isReplacing = record.folded()?.isReplacing === true
  try {
    if (looking.aborted) throw withDetails(looking.reason, { isDoubtful: false })
    // Of the first one, whoever gives up waits for longer.
    const create = async (onWaiting: OnWaiting, lasting: AbortSignal) =>
      protocol.create(plans, isReplacing ? lasting : signal, onWaiting, isReplacing)
    const created = await callProtocol(session, signal, create)
    checkGivenId(created.sessionId)
    if (plans.length > MANY_FILES) await nextTask(session.clock)
    const asked = isReplacing || protocol.traits.addressing === 'session' ? plans : []
    whereUsable(created, () => {
      // The caller gave up just as the answer came, and will start anew or not at all.
      if (signal.aborted) throw new UploadError('ERR_UPLOAD_CANCELLED', 'Given up.')
      checkAddressed(asked, created.files ?? [], protocol, session)
    })
    return created
  } catch (error) {
    const { sessionId, isDoubtful } = detailsOf(error)
    // A host's protocol may say anything.
    const isNamed = isKeepableId(sessionId)
    if (isNamed) await record.write({ type: 'session.left', sessionId })
    const isClear = isDoubtful === false || (isDoubtful === undefined && isNamed)
    if (isClear) await record.write({ type: 'session.refused' })
    throw error
  }
}
