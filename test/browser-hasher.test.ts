// The hashers where there is no page, as where a server renders a module that starts them.

import { expect, it } from 'vitest'
import { startHashers } from '../src/browser-hasher.ts'

it('resolves with no hashers on a server, which has neither workers nor a place to report that to', async () => {
  expect(globalThis).not.toHaveProperty('reportError')

  expect(await startHashers()).toEqual({})
})
