// Asks the service for a session, the first one of an upload or one for files whose addresses died, and takes it only when its
// addresses may be used. What it leaves behind at the service is in the journal before anybody hears of the failure.

import type { AddressRules } from '../core/address/address-policy.ts'
import { whereUsable } from '../core/address/unusable-session.ts'
import { isUploadError, UploadError } from '../core/errors.ts'
import type { Clock, CreatedSession, PlannedFile, Protocol } from '../core/ports.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import { checkAddressed } from './check-addressed.ts'
import { callProtocol } from './protocol-call.ts'
import type { SessionRecord } from './session-record.ts'

/** That it is asked for must be in the journal. Rejects as `create` does, and as `checkAddressed` for addresses that may not be used. */
export async function openSession(
  options: AddressRules & {
    readonly record: SessionRecord
    readonly protocol: Protocol
    readonly clock: Clock
    readonly report: (event: TransferEvent) => void
  },
  plans: readonly PlannedFile[],
  /** `looking`: fires when nobody wants the session any more; one that is asked for already is let come. */
  { signal, looking = signal }: { readonly signal: AbortSignal; readonly looking?: AbortSignal },
): Promise<CreatedSession> {
  const { record, protocol } = options
  /** Nothing is on its way, and no try was doubtful. */
  let isAtRest = true as boolean
  try {
    looking.throwIfAborted()
    const created = await callProtocol(options, signal, async (onWaiting) => {
      isAtRest = false
      return protocol.create(plans, signal, (wait) => {
        isAtRest = wait?.isDoubtful === false
        onWaiting(wait)
      })
    })
    const asked = protocol.traits.addressing === 'session' ? plans : []
    whereUsable(created, () => {
      // Whoever asked turned away in the moment of the answer, and begins anew or not at all.
      if (signal.aborted) throw new UploadError('ERR_UPLOAD_CANCELLED', 'Given up.')
      checkAddressed(asked, created.files ?? [], protocol, options)
    })
    return created
  } catch (error) {
    const { sessionId, isDoubtful } = isUploadError(error) ? error.details : {}
    if (sessionId !== undefined) await record.write({ type: 'session.left', sessionId: sessionId as string | number })
    // No try can have made a session that is not known: the error says so, or it was given up between two tries.
    const isClear = isDoubtful === false || (isDoubtful === undefined && sessionId !== undefined)
    if (isClear || (isAtRest && (signal.aborted || looking.aborted))) await record.write({ type: 'session.refused' })
    throw error
  }
}
