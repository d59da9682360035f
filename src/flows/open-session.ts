// Asks the service for a session, the first one of an upload or one for files whose addresses died, and takes it only when its
// addresses may be used. What it leaves behind at the service is in the journal before anybody hears of the failure.

import { checkAddresses, type AddressRules } from '../core/address/address-policy.ts'
import { whereUsable } from '../core/address/unusable-session.ts'
import { isUploadError, UploadError, type UploadErrorCode } from '../core/errors.ts'
import type { Clock, CreatedSession, PlannedFile, Protocol } from '../core/ports.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'
import type { SessionRecord } from './session-record.ts'
import { toldWaits } from './told-waits.ts'

/** After these the service said no, or was never reached. */
const CLEAR_CODES: readonly UploadErrorCode[] = [
  'ERR_UPLOAD_CREDENTIALS_REFUSED',
  'ERR_UPLOAD_SERVICE_REFUSED',
  'ERR_UPLOAD_HOST_UNREACHABLE',
  'ERR_UPLOAD_REDIRECT_REFUSED',
]

/** Rejects as `create` does, and as `checkAddresses` for addresses that may not be used. */
export async function openSession(
  options: AddressRules & {
    readonly record: SessionRecord
    readonly protocol: Protocol
    readonly clock: Clock
    readonly report: (event: TransferEvent) => void
  },
  plans: readonly PlannedFile[],
  signal: AbortSignal,
): Promise<CreatedSession> {
  const { record, protocol, clock, report } = options
  /** Until when nothing is on its way, as long as no try was doubtful. */
  let restUntilMs = 0
  try {
    const created = await toldWaits(report, (onWaiting) =>
      protocol.create(plans, signal, (wait) => {
        restUntilMs = wait.isDoubtful ? 0 : wait.untilMs
        onWaiting(wait)
      }),
    )
    whereUsable(created, () => {
      // Whoever asked turned away in the moment of the answer, and begins anew or not at all.
      if (signal.aborted) throw new UploadError('ERR_UPLOAD_CANCELLED', 'Given up.')
      checkAddresses(created.files ?? [], options)
    })
    return created
  } catch (error) {
    // Given up between two tries, none of which the service can have acted on.
    if (signal.aborted && clock.wallNow() < restUntilMs) await record.write({ type: 'session.refused' })
    else if (isUploadError(error)) {
      const { sessionId, isDoubtful } = error.details
      if (sessionId !== undefined) await record.write({ type: 'session.left', sessionId: sessionId as string | number })
      // No try can have made a session that is not known.
      if (isDoubtful !== true && (sessionId !== undefined || CLEAR_CODES.includes(error.code)))
        await record.write({ type: 'session.refused' })
    }
    throw error
  }
}
