// The account of retries that all files share, so that a storage that fails is not asked more and more.

import type { Random } from '../ports.ts'

/** The retries that all files share. */
export interface RetryAccount {
  /** A part was delivered. */
  refill(): void
  /** Takes a retry; how much later than its own wait it may go, ms. */
  spend(): number
}

/** Retries that all files may still make at once. Plain data; each function returns the next state. */
export interface RetryBudget {
  readonly retriesLeft: number
  readonly partsDelivered: number
}

const FIRST_RETRIES = 10
const RETRIES_PER_PART = 0.2

/** A full account: 10 retries. */
export function createRetryBudget(): RetryBudget {
  return { retriesLeft: FIRST_RETRIES, partsDelivered: 0 }
}

/** A part was delivered: a fifth of a retry comes back, up to max(10, a fifth of all parts delivered). */
export function refillRetryBudget(budget: RetryBudget): RetryBudget {
  const partsDelivered = budget.partsDelivered + 1
  const most = Math.max(FIRST_RETRIES, partsDelivered * RETRIES_PER_PART)
  return { partsDelivered, retriesLeft: Math.min(most, budget.retriesLeft + RETRIES_PER_PART) }
}

/** Takes a retry. An empty account never refuses one: it is only put off, by 5 to 15 s on top of its own wait. */
export function spendRetry(budget: RetryBudget, random: Random): { budget: RetryBudget; delayMs: number } {
  if (budget.retriesLeft < 1) return { budget, delayMs: 5_000 + Math.round(random() * 10_000) }
  return { budget: { ...budget, retriesLeft: budget.retriesLeft - 1 }, delayMs: 0 }
}

/** For one engine. */
export function createRetryAccount(random: Random): RetryAccount {
  let budget = createRetryBudget()
  return {
    refill() {
      budget = refillRetryBudget(budget)
    },
    spend() {
      const spent = spendRetry(budget, random)
      budget = spent.budget
      return spent.delayMs
    },
  }
}
