import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRetryAccount, type RetryAccount } from '../../../src/core/transfer/retry-budget.ts'

describe('the account of retries', () => {
  it('allows ten at once, then puts them off without refusing them', () => {
    let chance = 0.5
    const account = createRetryAccount(() => chance)
    for (let count = 0; count < 10; count += 1) expect(account.spend()).toBe(0)

    expect(account.spend()).toBe(10_000)
    chance = 0
    expect(account.spend()).toBe(5_000)
    // Five delivered parts are one more retry.
    deliver(account, 4)
    expect(account.spend()).toBe(5_000)
    deliver(account, 1)
    expect([account.spend(), account.spend()]).toEqual([0, 5_000])
  })

  it('allows a fifth of the delivered parts when these are many', () => {
    const account = createRetryAccount(() => 0.5)

    deliver(account, 40)
    expect(freeRetries(account)).toBe(10)
    deliver(account, 2_001)
    expect(freeRetries(account)).toBe(400)
  })

  it('never lets more retries through at once than ten and a fifth of the parts', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (steps) => {
        const account = createRetryAccount(() => 0.5)
        let freeCount = 0
        for (const isDelivery of steps) {
          if (isDelivery) account.refill()
          else if (account.spend() === 0) freeCount += 1
        }
        expect(freeCount).toBeLessThanOrEqual(10 + steps.filter(Boolean).length / 5 + 1e-6)
      }),
    )
  })
})

function deliver(account: RetryAccount, count: number): void {
  for (let index = 0; index < count; index += 1) account.refill()
}

/** Spends all that may go at once. */
function freeRetries(account: RetryAccount): number {
  let count = 0
  while (account.spend() === 0) count += 1
  return count
}
