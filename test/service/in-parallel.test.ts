import { expect, it } from 'vitest'

import { inParallel } from '../../src/service/in-parallel.ts'
import { passTurns } from '../helpers/pass-turns.ts'

/** Work whose end the test decides; `begun` are its items, in order. */
function controlled() {
  const begun: string[] = []
  const ends = new Map<string, { resolve(): void; reject(error: Error): void }>()
  const work = (item: string) =>
    new Promise<string>((resolve, reject) => {
      begun.push(item)
      ends.set(item, { resolve: () => resolve(item.toUpperCase()), reject })
    })
  return { begun, work, end: (item: string) => ends.get(item)! }
}

it('begins no more than the limit at once, and gives the results in the order of the items', async () => {
  const { begun, work, end } = controlled()
  const made = inParallel(2, ['a', 'b', 'c'], work)

  expect(begun).toEqual(['a', 'b'])
  end('b').resolve()
  await passTurns(5)
  expect(begun).toEqual(['a', 'b', 'c'])
  end('c').resolve()
  end('a').resolve()
  await expect(made).resolves.toEqual(['A', 'B', 'C'])
})

it('begins nothing after a failure, and tells it once all that was under way has ended', async () => {
  const { begun, work, end } = controlled()
  let isTold = false
  const made = inParallel(2, ['a', 'b', 'c'], work).finally(() => (isTold = true))
  made.catch(() => undefined)

  end('a').reject(new Error('first'))
  await passTurns(5)
  expect([begun, isTold]).toEqual([['a', 'b'], false])
  end('b').reject(new Error('second'))
  await expect(made).rejects.toThrow('first')
  expect(begun).toEqual(['a', 'b'])
})
