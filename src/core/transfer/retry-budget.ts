// The account of retries that all files of an engine share, so that a storage that fails is not asked more and more.

import type { Random } from '../ports.ts'

export interface RetryAccount {
  /** A part was delivered: a fifth of a retry comes back, up to max(10, a fifth of all parts delivered). */
  refill(): void
  /**
   * Takes a retry; how much later than its own wait it may go, ms. An empty account never refuses one: it is only put off, by 5 to
   * 15 s.
   */
  spend(): number
}

const FIRST_RETRIES = 10
const RETRIES_PER_PART = 0.2

/** A full account: 10 retries. */
export function createRetryAccount(random: Random): RetryAccount {
  let retriesLeft = FIRST_RETRIES
  let partsDelivered = 0
  return {
    refill() {
      partsDelivered += 1
      const most = Math.max(FIRST_RETRIES, partsDelivered * RETRIES_PER_PART)
      retriesLeft = Math.min(most, retriesLeft + RETRIES_PER_PART)
    },
    spend() {
      if (retriesLeft < 1) return 5_000 + Math.round(random() * 10_000)
      retriesLeft -= 1
      return 0
    },
  }
}
