// Whether a signed address is still taken. Deadlines are in the signer's time, and a machine that captures motion is often
// minutes off. The signer's clock is known from the address itself, then from the storage's own answers.

import { sum, type SignedAddress } from './address.ts'
import type { UploadError } from '../errors.ts'
import type { Clock, TransportReply } from '../ports.ts'
import { parseHttpDateMs } from '../retry-after.ts'

export interface AddressClock {
  /** Whether no attempt may start with this address any more. `addressedAtMs`: wall time at which we got it. */
  isDead(address: SignedAddress, addressedAtMs: number): boolean
  /** When it expires, monotonic ms; undefined while that is not known. */
  deadlineMs(address: SignedAddress, addressedAtMs: number): number | undefined
  /** How long it lives, ms, from when it was signed, or else from when it came; undefined while that is not known. */
  lifeMs(address: SignedAddress, addressedAtMs: number): number | undefined
  /** Records an answer of the storage: its Date says what time it is there. */
  noteReply(headers: TransportReply['headers']): void
  /** Records the duration of an attempt that was answered well. */
  noteDuration(durationMs: number): void
  /**
   * Records the refusal of an address that was alive when its attempt began. If it was refused as expired, this host tests at
   * the end.
   */
  noteLateRefusal(error: UploadError): void
}

/** An address must outlive the start of its attempt by this much, ms: the request has to arrive. */
const MARGIN_MS = 2_000

export function createAddressClock(clock: Clock): AddressClock {
  /** How far the storage's time is ahead of our monotonic clock, which nobody sets. A sleep may upset it until the next answer. */
  let aheadMs: number | undefined
  let longestMs = 0
  let isTestedAtEnd = false

  const ageMs = (addressedAtMs: number): number => clock.wallNow() - addressedAtMs
  const leftMs = ({ deadlineMs, signedAtMs }: SignedAddress, addressedAtMs: number): number | undefined => {
    if (deadlineMs === undefined) return undefined
    if (aheadMs !== undefined) return deadlineMs - clock.monotonicNow() - aheadMs
    // It came dead by a clock that was compared with no other. Ours may be the one that is ahead, so let the storage say.
    if (signedAtMs === undefined && deadlineMs - addressedAtMs <= MARGIN_MS) return undefined
    return deadlineMs - (signedAtMs ?? addressedAtMs) - ageMs(addressedAtMs)
  }

  return {
    isDead(address, addressedAtMs) {
      const restMs = leftMs(address, addressedAtMs) ?? Infinity
      // At most half of its life: otherwise one slow attempt, or one request that came late, would make every new address dead.
      const halfLifeMs = (restMs + ageMs(addressedAtMs)) / 2
      return restMs <= MARGIN_MS + (isTestedAtEnd ? Math.min(longestMs, halfLifeMs) : 0)
    },
    deadlineMs: (address, addressedAtMs) => sum(leftMs(address, addressedAtMs), clock.monotonicNow()),
    lifeMs(address, addressedAtMs) {
      const { deadlineMs, signedAtMs } = address
      if (deadlineMs !== undefined && signedAtMs !== undefined) return deadlineMs - signedAtMs
      return sum(leftMs(address, addressedAtMs), ageMs(addressedAtMs))
    },
    noteReply(headers) {
      const dateMs = parseHttpDateMs(headers['date'])
      if (dateMs !== undefined) aheadMs = dateMs - clock.monotonicNow()
    },
    noteDuration(durationMs) {
      longestMs = Math.max(longestMs, durationMs)
    },
    noteLateRefusal({ code }) {
      if (code === 'ERR_UPLOAD_ADDRESS_EXPIRED') isTestedAtEnd = true
    },
  }
}
