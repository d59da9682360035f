// Asks the service for a session, either the first one of an upload or one for files whose addresses died, and takes it only if
// its addresses may be used. What a failure leaves behind at the service is journalled before anybody hears of the failure.

import type { AddressRules } from '../core/address/address-policy.ts'
import { whereUsable } from '../core/address/unusable-session.ts'
import { detailsOf, UploadError, withDetails } from '../core/errors.ts'
import { isId } from '../core/journal/found-records.ts'
import type { Clock, CreatedSession, OnWaiting, PlannedFile, Protocol } from '../core/ports.ts'
import { nextTask } from '../core/time/next-task.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import { checkAddressed, checkId } from './check-addressed.ts'
import { callProtocol } from './protocol-call.ts'
import type { SessionRecord } from './session-record.ts'

/** From so many files on, to read the answer and to check it is one task each: together they held a page's thread for 0.1 s and more. */
const MANY_FILES = 1_000

export interface OpenSessionOptions extends AddressRules {
  readonly record: SessionRecord
  readonly protocol: Protocol
  readonly clock: Clock
  readonly report: (event: TransferEvent) => void
}

/** The intent must already be in the journal. Rejects as `create` does, and as `checkAddressed` does for unusable addresses. */
export async function openSession(
  options: OpenSessionOptions,
  plans: readonly PlannedFile[],
  signal: AbortSignal,
  /** Fires with `signal`, or before it when nobody wants the session any more: a create under way may then still finish. */
  looking = signal,
): Promise<CreatedSession> {
  const { record, protocol } = options
  // What replaces a session takes files that have had their turn.
  const isReplacing = record.folded()?.isReplacing === true
  try {
    if (looking.aborted) throw withDetails(looking.reason, { isDoubtful: false })
    // Of the first one, whoever gives up waits for longer.
    const create = async (onWaiting: OnWaiting, lasting: AbortSignal) =>
      protocol.create(plans, isReplacing ? lasting : signal, onWaiting, isReplacing)
    const created = await callProtocol(options, signal, create)
    checkId(created.sessionId)
    if (plans.length > MANY_FILES) await nextTask(options.clock)
    const asked = isReplacing || protocol.traits.addressing === 'session' ? plans : []
    whereUsable(created, () => {
      // The caller gave up just as the answer came, and will start anew or not at all.
      if (signal.aborted) throw new UploadError('ERR_UPLOAD_CANCELLED', 'Given up.')
      checkAddressed(asked, created.files ?? [], protocol, options)
    })
    return created
  } catch (error) {
    const { sessionId, isDoubtful } = detailsOf(error)
    // A host's protocol may say anything.
    const isNamed = isId(sessionId)
    if (isNamed) await record.write({ type: 'session.left', sessionId })
    const isClear = isDoubtful === false || (isDoubtful === undefined && isNamed)
    if (isClear) await record.write({ type: 'session.refused' })
    throw error
  }
}
