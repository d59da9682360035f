import { describe, expect, it } from 'vitest'

import { inSlices } from '../../../src/adapters/node/in-slices.ts'
import type { Steps } from '../../../src/core/journal/steps.ts'

describe('work in slices', () => {
  it('lets others have the thread between steps that take long', async () => {
    const others: number[] = []
    function* steps(): Steps<string> {
      for (let step = 1; step <= 3; step += 1) {
        setImmediate(() => others.push(step))
        for (const end = performance.now() + 11; performance.now() < end;) continue
        yield
      }
      return `after ${others.join(' ')}`
    }

    expect(await inSlices(steps())).toBe('after 1 2 3')
  })

  it('ends with the failure of a step', async () => {
    function* steps(): Steps<string> {
      throw new Error('damaged')
    }

    await expect(inSlices(steps())).rejects.toThrow('damaged')
  })
})
