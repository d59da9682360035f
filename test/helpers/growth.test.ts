// Tests the measure of growth: it tells quadratic from linear work, even if the code has run often before.

import { growth } from './growth.ts'
import { expect, it } from 'vitest'
import { linearWork, quadraticWork } from './growing-work.ts'

it.each([1, 2])('tells work that grows by its square from work that grows with its size (time %s)', async () => {
  // V8 optimises code that has run often. The measure must not depend on that.
  for (let time = 0; time < 2_000; time += 1) expect(quadraticWork(10)).toBe(10 * linearWork(10))

  expect(await growth((size) => void linearWork(size), 100, 1_000)).toBeCloseTo(10, 0)
  expect(await growth((size) => void quadraticWork(size), 100, 1_000)).toBeCloseTo(100, -1)
})

it('says so where the steps were not counted', async () => {
  const uncounted = (): void => undefined

  await expect(growth(uncounted, 100, 1_000)).rejects.toThrow('no steps were counted in any function')
})
