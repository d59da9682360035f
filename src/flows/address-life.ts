// Whether a file can be sent within the life of its addresses: after one renewal, one that cannot is told so instead of being
// sent for ever.

import { UploadError } from '../core/errors.ts'
import type { LedgerFile } from '../core/journal/ledger.ts'
import { formatBytes } from '../core/plan.ts'
import type { Clock } from '../core/ports.ts'
import type { RenewalReason } from '../core/transfer/transfer-job.ts'

/** New sessions for a file of which the storage says each time that it expired, though it should live and took nothing. */
const MAX_CONTRADICTED_MOVES = 5
/** A file that has been to so many sessions will not be finished by one more. */
const MAX_MOVES = 20
/** With less than this no part can begin: see the margin of core/address-clock. */
const SHORTEST_LIFE_MS = 2_000

/**
 * Throws ERR_UPLOAD_ADDRESS_EXPIRED, with what would help, for a file that one more session would not finish. `moves`: sessions
 * that it has been moved to in this transfer; the first is not judged.
 */
export function checkLife(
  {
    bytesPerSecond,
    clock,
  }: {
    /** The measured rate; 0 while unknown. */
    readonly bytesPerSecond: () => number
    readonly clock: Clock
  },
  file: LedgerFile,
  { isDead, isExpired, lifeMs = Infinity, moves }: Omit<RenewalReason, 'signal'> & { readonly moves: number },
): void {
  if (moves === 0) return
  // Dead by the storage's time though they came a moment ago: those of one more session would be dead, too. By its mere word,
  // against their own, it is so after a few sessions: whoever takes addresses back may have had to, once or twice.
  const isOver = isDead || (isExpired && lifeMs < Infinity && moves >= MAX_CONTRADICTED_MOVES)
  // By the storage's time one may have been dead before it came; then it has no life to speak of.
  const isYoung = lifeMs <= 0 || clock.wallNow() - file.addressedAtMs < lifeMs / 2
  if (isOver && file.receivedCount === 0 && isYoung) {
    throw expired(
      `The addresses of a new session were dead when they came: the clocks of the service and of its storage differ by more than ` +
        `${lifeMs > 0 ? `the ${minutes(lifeMs)} that` : 'what'} they live, or it signs with credentials that die sooner. Tell the service, then resume.`,
      { lifeMs, sessions: moves + 1 },
    )
  }
  const rate = bytesPerSecond()
  const neededMs = rate === 0 ? 0 : (file.plan.sizeBytes / rate) * 1_000
  if (moves >= MAX_MOVES || lifeMs <= SHORTEST_LIFE_MS) {
    throw expired(
      `After ${moves} new sessions the file is still not sent: ` +
        (lifeMs < Infinity
          ? `the service's addresses live ${minutes(lifeMs)}. Ask for addresses that live longer.`
          : 'it is not known how long their addresses live, and it was never long enough.'),
      { lifeMs, sessions: moves + 1 },
    )
  }
  if (neededMs <= lifeMs) return
  throw expired(
    `At ${formatBytes(rate)}/s the file needs ${minutes(neededMs)}, and the service's addresses live ${minutes(lifeMs)}. ` +
      'Ask for addresses that live longer, or send it over a faster line.',
    { bytesPerSecond: rate, neededMs, lifeMs },
  )
}

function expired(message: string, details: UploadError['details']): UploadError {
  return new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', message, { details })
}

function minutes(ms: number): string {
  return ms < 90_000 ? `${String(Math.round(ms / 1_000))} s` : `${String(Math.round(ms / 60_000))} min`
}
