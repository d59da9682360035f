// The least value within a time.

import { expect, it } from 'vitest'
import { createLeast } from '../../../src/core/line/least.ts'

it('is the least of the values within the time, to a tenth of it, and is forgotten after that', () => {
  const least = createLeast(1_000)
  expect(least.least(0)).toBe(Infinity)
  least.add(5, 0)
  least.add(3, 99)
  least.add(7, 100)
  least.add(9, 600)

  expect([0, 1_000, 1_001, 1_100, 1_101].map((atMs) => least.least(atMs))).toEqual([3, 3, 7, 7, 9])
})

it('is the newest value, however old it is', () => {
  const least = createLeast(1_000)
  least.add(5, 0)

  expect(least.least(1_000_000)).toBe(5)
})
