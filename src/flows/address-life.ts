// How long addresses live, and whether that is enough: a file that cannot be sent within the life of its addresses fails after
// one renewal with an explanation, instead of being renewed and sent forever.

import { readAddress } from '../core/address/address.ts'
import { UploadError } from '../core/errors.ts'
import type { LedgerFile } from '../core/journal/ledger.ts'
import { formatBytes } from '../core/plan.ts'
import type { Clock } from '../core/ports.ts'
import type { RenewalReason } from '../core/transfer/transfer-job.ts'

/** Moves to a new session before the storage is believed when it says that young addresses, with no part taken, have expired. */
const MAX_CONTRADICTED_MOVES = 5
/** A file that was moved this often because its own addresses died will not be finished by one more session. */
const MAX_MOVES = 20
/** No part can begin with less life than this: see the margin in core/address/address-clock. */
const SHORTEST_LIFE_MS = 2_000

/**
 * Throws ERR_UPLOAD_ADDRESS_EXPIRED, with advice, for a file that one more session would not finish. `moves` counts the
 * sessions that the file has been moved to in this transfer, `tries` those that it asked for itself. The first move is always
 * allowed.
 */
export function checkLife(
  {
    bytesPerSecond,
    clock,
  }: {
    /** The rate measured while bytes moved steadily; 0 while unknown. */
    readonly bytesPerSecond: () => number
    readonly clock: Clock
  },
  file: LedgerFile,
  {
    isDead,
    isExpired,
    lifeMs = Infinity,
    moves,
    tries,
  }: Pick<RenewalReason, 'isDead' | 'lifeMs'> & {
    /** The storage itself said that they have expired. */
    readonly isExpired: boolean
    readonly moves: number
    readonly tries: number
  },
): void {
  if (moves === 0) return
  // Either the addresses are dead by the storage's clock although they just came; then those of another session would be dead
  // too. Or the storage only says that they expired, against their own deadline. That is believed after a few sessions only,
  // because a service that revokes addresses may have had a reason to do so once or twice.
  const isOver = isDead || (isExpired && lifeMs < Infinity && moves >= MAX_CONTRADICTED_MOVES)
  // By the storage's clock an address may have been dead before it came. Its life is then zero or negative.
  const isYoung = lifeMs <= 0 || clock.wallNow() - file.addressedAtMs < lifeMs / 2
  if (isOver && file.receivedCount === 0 && isYoung) {
    throw expired(
      `The addresses of a new session were dead when they came: the clocks of the service and of its storage differ by more than ` +
        `the ${minutes(Math.max(0, lifeMs))} that they live, or it signs with credentials that die sooner. Tell the service, then resume.`,
    )
  }
  const rate = bytesPerSecond()
  const neededMs = rate === 0 ? 0 : (file.plan.sizeBytes / rate) * 1_000
  if (tries >= MAX_MOVES || lifeMs <= SHORTEST_LIFE_MS) {
    const life = lifeMs < Infinity ? `, whose addresses live ${minutes(lifeMs)}` : ''
    throw expired(`After ${moves} new sessions${life}, the file is still not sent. Ask for addresses that live longer.`)
  }
  if (neededMs <= lifeMs) return
  throw expired(
    `At ${formatBytes(rate)}/s the file needs ${minutes(neededMs)}, and the service's addresses live ${minutes(lifeMs)}. ` +
      'Ask for addresses that live longer, or send it over a faster line.',
  )
}

/**
 * When the first address of the unfinished files dies, by this machine's clock. An address that says when it was signed also shows
 * how far the signer's clock is off. Only addresses that came with a session count: those that come in batches are renewed in
 * passing.
 */
export function earliestDeadline(files: readonly LedgerFile[]): number {
  return files.reduce((earliestMs, { state, sessionId, addresses: [first = ''], addressedAtMs }) => {
    if (state !== 'ready' || sessionId === undefined) return earliestMs
    const { deadlineMs = Infinity, signedAtMs = addressedAtMs } = readAddress(first)
    const lifeMs = deadlineMs - signedAtMs
    // An address that seems dead by our clock alone proves nothing, as our clock may be ahead.
    return lifeMs > 0 ? Math.min(earliestMs, addressedAtMs + lifeMs) : earliestMs
  }, Infinity)
}

function expired(message: string): UploadError {
  return new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', message)
}

function minutes(ms: number): string {
  return ms < 90_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}
