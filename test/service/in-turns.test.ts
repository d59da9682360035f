// Long work lets others have their turn.

import { expect, it } from 'vitest'

import { inTurns } from '../../src/service/in-turns.ts'

it('takes every step in order, lets the event loop turn in between, and stops when it should', async () => {
  let now = 0
  const seen: (number | 'turn')[] = []
  const stop = new AbortController()
  const step = (item: number) => {
    if (seen.at(-1) !== 'turn') setImmediate(() => seen.push('turn'))
    seen.push(item)
    now += 4
    if (item === 9) stop.abort(new Error('enough'))
    return item * 2
  }

  expect(await inTurns([1, 2, 3, 4, 5, 6, 7], step, stop.signal, () => now)).toEqual([2, 4, 6, 8, 10, 12, 14])
  expect(seen.filter((one) => one !== 'turn')).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(seen.slice(0, 5)).toEqual([1, 2, 3, 'turn', expect.anything()])
  await expect(inTurns([8, 9, 10, 11, 12, 13], step, stop.signal, () => now)).rejects.toThrow('enough')
  expect(seen.includes(13)).toBe(false)
})
