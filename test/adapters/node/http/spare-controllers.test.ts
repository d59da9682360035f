// Controllers that serve one attempt after the other, and those that must not.

import { afterEach, expect, it, vi } from 'vitest'
import { createSpareControllers } from '../../../../src/adapters/node/http/spare-controllers.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

it('gives out one that was given back, and never one to two at once', () => {
  const controllers = createSpareControllers()
  const first = controllers.take()
  const second = controllers.take()
  controllers.giveBack(first)

  expect(second).not.toBe(first)
  expect(controllers.take()).toBe(first)
  expect([first, second]).not.toContain(controllers.take())
})

it('gives out none that was aborted', () => {
  const controllers = createSpareControllers()
  const aborted = controllers.take()
  aborted.abort()
  controllers.giveBack(aborted)

  expect(controllers.take()).not.toBe(aborted)
})

it.each([
  ['added', (signal: AbortSignal) => signal.addEventListener('abort', () => undefined)],
  ['assigned', (signal: AbortSignal) => void (signal.onabort = () => undefined)],
])('gives out none to which somebody still listens: %s', (_how, listen) => {
  const controllers = createSpareControllers()
  const heard = controllers.take()
  listen(heard.signal)
  controllers.giveBack(heard)

  expect(controllers.take()).not.toBe(heard)
})

it('gives out one whose listeners have left', () => {
  const controllers = createSpareControllers()
  const left = controllers.take()
  const listener = (): void => undefined
  left.signal.addEventListener('abort', listener, { once: true })
  left.signal.removeEventListener('abort', listener)
  controllers.giveBack(left)

  expect(controllers.take()).toBe(left)
})

it('lets each go after some hundred attempts, and what hangs on it with it', () => {
  const controllers = createSpareControllers()
  const seen = new Set<AbortController>()
  for (let attempt = 0; attempt < 2_000; attempt += 1) {
    const controller = controllers.take()
    seen.add(controller)
    controllers.giveBack(controller)
  }

  expect(seen.size).toBeGreaterThan(4)
  expect(seen.size).toBeLessThan(20)
})

it('gives out none of a page whose globals stand beside Node’s, since nobody can tell who listens to it', () => {
  // As in Electron: Node does not know the class.
  class PageController {
    readonly signal = { aborted: false, addEventListener: () => undefined }
  }
  vi.stubGlobal('AbortController', PageController)
  const controllers = createSpareControllers()
  const foreign = controllers.take()
  controllers.giveBack(foreign)

  expect(controllers.take()).not.toBe(foreign)
})
