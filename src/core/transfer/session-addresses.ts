// The addresses of one session's files: when they die, and what the storage's answers say of that.

import { readAddress, type SignedAddress } from '../address/address.ts'
import { createAddressClock } from '../address/address-clock.ts'
import type { AttemptStart } from './attempts.ts'
import type { Attempt, AttemptResult } from '../attempt/attempt.ts'
import { fileAt, type Ledger, type LedgerFile } from '../journal/ledger.ts'
import type { Clock, Protocol } from '../ports.ts'

export interface SessionAddresses {
  /** When those of a file die, on the monotonic clock; undefined while that is not known. */
  deadlineOf(file: LedgerFile): number | undefined
  /** How long they live, ms; undefined where they do not say. */
  lifeOf(file: LedgerFile): number | undefined
  /** Whether the address of an attempt is not to be used any more. */
  isExpired(attempt: Pick<Attempt, 'unit' | 'address'>): boolean
  /** The same judgement, from which the storage's time is read. */
  readonly judge: Protocol['judge']
  /** What an attempt's result means, now that its address may have died. */
  ended(start: AttemptStart, result: AttemptResult): AttemptResult
}

export function createSessionAddresses(
  clock: Clock,
  ledger: Ledger,
  protocol: Pick<Protocol, 'judge'>,
): SessionAddresses {
  const addresses = createAddressClock(clock)
  /** All addresses of a file come together, so one of them speaks for all. */
  const firstOf = ({ addresses: [first = ''] }: LedgerFile): SignedAddress => readAddress(first)

  return {
    deadlineOf: (file) => addresses.deadlineMs(firstOf(file), file.addressedAtMs),
    lifeOf: (file) => addresses.lifeMs(firstOf(file), file.addressedAtMs),
    isExpired({ unit: { fileIndex, partNumber }, address }) {
      const file = fileAt(ledger, fileIndex)
      return file.addresses[partNumber - 1] !== address.url || addresses.isDead(address, file.addressedAtMs)
    },
    judge(reply, unit) {
      addresses.noteReply(reply.headers)
      return protocol.judge(reply, unit)
    },
    ended({ address, addressedAtMs, isLeftOver, beganAtMs }, result) {
      if (result.kind === 'received') addresses.noteDuration(clock.monotonicNow() - beganAtMs)
      if (result.kind !== 'refused') return result
      let { verdict } = result
      // Ceph has no word for expiry: it just denies what died on its way.
      const isDenied = verdict.error.code === 'ERR_UPLOAD_ADDRESS_REFUSED'
      if (isDenied && (isLeftOver || addresses.isDead(address, addressedAtMs)))
        verdict = { kind: 'renew', error: verdict.error }
      addresses.noteLateRefusal(verdict.error)
      return { kind: 'refused', verdict }
    },
  }
}
