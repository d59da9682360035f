// Waiting for what cannot be aborted itself.

import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { unlessAborted } from '../../src/core/unless-aborted.ts'

it.each([
  ['a promise', Promise.resolve(7)],
  ['what a host in plain JavaScript returns at once', 7],
])('%s is waited for, and leaves no listener', async (_, given) => {
  const { signal } = new AbortController()

  expect(await unlessAborted(given, signal)).toBe(7)
  await Promise.resolve()
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('eleven waits for one signal share one listener: Node would warn of a leak', async () => {
  const controller = new AbortController()
  const waits = Array.from({ length: 11 }, () => unlessAborted(new Promise(() => undefined), controller.signal))
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)

  controller.abort(new Error('paused'))
  const ends = await Promise.allSettled(waits)
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(11)
})

it('what never settles is left alone when the signal fires', async () => {
  const controller = new AbortController()
  const waiting = unlessAborted(new Promise(() => undefined), controller.signal)
  controller.abort(new Error('paused'))

  await expect(waiting).rejects.toThrow('paused')
  await expect(unlessAborted(new Promise(() => undefined), controller.signal)).rejects.toThrow('paused')
})
