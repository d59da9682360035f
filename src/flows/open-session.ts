// Asks the service for a session, the first one of an upload or one for files whose addresses died, and takes it only when its
// addresses may be used. What it leaves behind at the service is in the journal before anybody hears of the failure.

import { checkAddresses, type AddressRules } from '../core/address/address-policy.ts'
import { whereUsable } from '../core/address/unusable-session.ts'
import { isUploadError, type UploadErrorCode } from '../core/errors.ts'
import type { CreatedSession, PlannedFile, Protocol } from '../core/ports.ts'
import type { SessionRecord } from './session-record.ts'

/** After these the service said no, or was never reached. */
const CLEAR_CODES: readonly UploadErrorCode[] = [
  'ERR_UPLOAD_CREDENTIALS_REFUSED',
  'ERR_UPLOAD_SERVICE_REFUSED',
  'ERR_UPLOAD_HOST_UNREACHABLE',
  'ERR_UPLOAD_REDIRECT_REFUSED',
]

/** Rejects as `create` does, and as `checkAddresses` for addresses that may not be used. */
export async function openSession(
  options: AddressRules & { readonly record: SessionRecord; readonly protocol: Protocol },
  plans: readonly PlannedFile[],
  signal: AbortSignal,
): Promise<CreatedSession> {
  const { record, protocol } = options
  try {
    const created = await protocol.create(plans, signal)
    whereUsable(created, () => checkAddresses(created.files ?? [], options))
    return created
  } catch (error) {
    if (isUploadError(error)) {
      const { sessionId, isDoubtful } = error.details
      if (sessionId !== undefined) await record.write({ type: 'session.left', sessionId: sessionId as string | number })
      // No try can have made a session that is not known.
      if (isDoubtful !== true && (sessionId !== undefined || CLEAR_CODES.includes(error.code)))
        await record.write({ type: 'session.refused' })
    }
    throw error
  }
}
