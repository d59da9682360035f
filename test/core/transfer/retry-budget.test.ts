import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createRetryBudget,
  refillRetryBudget,
  spendRetry,
  type RetryBudget,
} from '../../../src/core/transfer/retry-budget.ts'

const half = () => 0.5

describe('RetryBudget', () => {
  it('allows ten retries at once, then puts them off without refusing them', () => {
    let budget = createRetryBudget()
    for (let count = 0; count < 10; count += 1) {
      const spent = spendRetry(budget, half)
      expect(spent.delayMs).toBe(0)
      budget = spent.budget
    }

    expect(spendRetry(budget, half).delayMs).toBe(10_000)
    expect(spendRetry(budget, () => 0).delayMs).toBe(5_000)
    // Five delivered parts are one more retry.
    expect(spendRetry(deliver(budget, 4), half).delayMs).toBe(10_000)
    expect(spendRetry(deliver(budget, 5), half).delayMs).toBe(0)
  })

  it('allows a fifth of the delivered parts when these are many', () => {
    expect(Math.round(deliver(createRetryBudget(), 40).retriesLeft)).toBe(10)
    expect(Math.round(deliver(createRetryBudget(), 1_000).retriesLeft)).toBe(200)
  })

  it('never lets more retries through at once than ten and a fifth of the parts', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (steps) => {
        let budget = createRetryBudget()
        let freeRetries = 0
        for (const isDelivery of steps) {
          if (isDelivery) budget = refillRetryBudget(budget)
          else {
            const spent = spendRetry(budget, half)
            if (spent.delayMs === 0) freeRetries += 1
            budget = spent.budget
          }
          expect(budget.retriesLeft).toBeGreaterThanOrEqual(0)
        }
        expect(freeRetries).toBeLessThanOrEqual(10 + steps.filter(Boolean).length / 5 + 1e-6)
      }),
    )
  })
})

function deliver(budget: RetryBudget, count: number): RetryBudget {
  let next = budget
  for (let index = 0; index < count; index += 1) next = refillRetryBudget(next)
  return next
}
