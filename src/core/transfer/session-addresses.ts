// The addresses of one session's files: when they expire, and what the storage's answers say about that.

import { readAddress, type SignedAddress } from '../address/address.ts'
import { createAddressClock } from '../address/address-clock.ts'
import type { AttemptStart } from './attempts.ts'
import type { Attempt, AttemptResult } from '../attempt/attempt.ts'
import { fileAt, type Ledger, type LedgerFile } from '../journal/ledger.ts'
import { isUploadGone } from '../errors.ts'
import type { Clock, Protocol } from '../ports.ts'
import { isPassingStatus } from '../retry.ts'

export interface SessionAddresses {
  /** When the addresses of a file expire, monotonic ms; undefined while that is not known. */
  deadlineOf(file: LedgerFile): number | undefined
  /** How long they live, ms; undefined where they do not say. */
  lifeOf(file: LedgerFile): number | undefined
  /**
   * Whether the address of an attempt must no longer be used: it has expired, or the file has a newer one. A host that is out of
   * reach is also probed with an expired address: if it is back it says so, and until then no addresses are renewed in vain.
   */
  isExpired(attempt: Pick<Attempt, 'unit' | 'address'>): boolean
  /** The protocol's judgement; also learns the storage's time from the reply. */
  readonly judge: Protocol['judge']
  /** What an attempt's result means, given that its address may have expired meanwhile. */
  ended(start: AttemptStart, result: AttemptResult): AttemptResult
}

export function createSessionAddresses(
  clock: Clock,
  ledger: Ledger,
  protocol: Pick<Protocol, 'judge'>,
  /** Whether the host is in reach now. */
  isInReach: () => boolean,
): SessionAddresses {
  const addresses = createAddressClock(clock)
  /** All addresses of a file come together, so one of them speaks for all. */
  const firstOf = ({ addresses: [first = ''] }: LedgerFile): SignedAddress => readAddress(first)

  return {
    deadlineOf: (file) => addresses.deadlineMs(firstOf(file), file.addressedAtMs),
    lifeOf: (file) => addresses.lifeMs(firstOf(file), file.addressedAtMs),
    isExpired({ unit: { fileIndex, partNumber }, address }) {
      const file = fileAt(ledger, fileIndex)
      return (
        file.addresses[partNumber - 1] !== address.url || (isInReach() && addresses.isDead(address, file.addressedAtMs))
      )
    },
    judge(reply, unit) {
      // Many of these are of a gateway. By its clock, a wrong one, every address may be dead, and no request would tell otherwise.
      if (!isPassingStatus(reply.status)) addresses.noteReply(reply.headers)
      return protocol.judge(reply, unit)
    },
    ended({ address, addressedAtMs, addressesWere, beganAtMs }, result) {
      if (result.kind === 'received') addresses.noteDuration(clock.monotonicNow() - beganAtMs)
      if (result.kind !== 'refused') return result
      let { verdict } = result
      const { error } = verdict
      // Addresses that an earlier run found refused may never be taken, whatever was fixed since. They are tried, and renewed
      // at the first refusal. What an earlier run sent may have been swept away, and a resume wants it sent again.
      const isLeftOver = addressesWere === 'refused' || (addressesWere && isUploadGone(error))
      // Ceph has no word for expiry: it simply denies an address that expired on its way.
      const isDenied = error.code === 'ERR_UPLOAD_ADDRESS_REFUSED'
      if (isDenied && (isLeftOver || addresses.isDead(address, addressedAtMs))) verdict = { kind: 'renew', error }
      // Out of reach, or once the machine has slept, the address may have been dead from the beginning.
      const diesAtMs = addresses.deadlineMs(address, addressedAtMs) ?? Infinity
      if (isInReach() && diesAtMs > beganAtMs) addresses.noteLateRefusal(error)
      return { kind: 'refused', verdict, isDead: isLeftOver }
    },
  }
}
