// Many calls, some of them at once: in order, never more than so many, and none after the first failure.

import { expect, it } from 'vitest'
import { inTurns } from '../../src/protocols/in-turns.ts'
import { passTurns } from '../helpers/pass-turns.ts'

/** Calls that end when the test says so. */
function calls(count: number, atOnce: number) {
  const begun: number[] = []
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  const items = Array.from({ length: count }, (_, index) => index * 10)
  const all = inTurns(items, atOnce, (item, index) => {
    begun.push(item)
    return new Promise<void>((resolve, reject) => (ends[index] = { resolve, reject }))
  })
  let isOver = false
  const over = (): void => void (isOver = true)
  all.then(over, over)
  return { all, begun, ends, isOver: () => isOver }
}

it('begins the next one when one has ended', async () => {
  const { all, begun, ends } = calls(3, 2)
  expect(begun).toEqual([0, 10])
  ends[1]?.resolve()
  await passTurns(5)
  expect(begun).toEqual([0, 10, 20])

  for (const { resolve } of ends) resolve()
  await all
})

it('fails with its only failure', async () => {
  const { all, ends } = calls(1, 1)
  ends[0]?.reject(new Error('only'))

  await expect(all).rejects.toThrow('only')
})

it('begins none after a failure, waits for those under way, and gives the first failure', async () => {
  const { all, begun, ends, isOver } = calls(5, 3)
  const first = new Error('first')
  ends[1]?.reject(first)
  await passTurns(5)
  ends[0]?.resolve()
  await passTurns(5)
  expect([begun, isOver()]).toEqual([[0, 10, 20], false])

  ends[2]?.reject(new Error('second'))
  await expect(all).rejects.toBe(first)
  expect(begun).toEqual([0, 10, 20])
})
