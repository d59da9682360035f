// A file that was just written and that another program holds, as a virus scanner of Windows does, so that it cannot be renamed.

import type { rename } from 'node:fs/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { renameWritten } from '../../../../src/adapters/node/journal/durable-file.ts'
import { createSimulatedClock } from '../../../helpers/simulated-clock.ts'

/** How often the system still refuses, with which code, and how often it was asked. */
const held = vi.hoisted(() => ({ refusals: 0, code: '', renamings: 0 }))

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<{ rename: typeof rename }>()),
  rename() {
    held.renamings += 1
    held.refusals -= 1
    return held.refusals < 0 ? Promise.resolve() : Promise.reject(Object.assign(new Error(), { code: held.code }))
  },
}))

/** Renames while each wait comes to its end as soon as it has begun. */
async function renamed(isWindows: boolean): Promise<void> {
  const clock = createSimulatedClock()
  const state = { isOver: false }
  const over = renameWritten('journal.new', 'journal', clock, isWindows).finally(() => (state.isOver = true))
  over.catch(() => undefined)
  while (!state.isOver) await clock.advance(100)
  await over
}

describe('a file that another program holds', () => {
  beforeEach(() => Object.assign(held, { refusals: 0, code: 'EPERM', renamings: 0 }))

  it.each(['EPERM', 'EACCES', 'EBUSY'])('is renamed on Windows once that has let go of it: %s', async (code) => {
    Object.assign(held, { refusals: 3, code })

    await renamed(true)
    expect(held.renamings).toBe(4)
  })

  it('is refused once that has held it for six seconds', async () => {
    held.refusals = Infinity

    await expect(renamed(true)).rejects.toMatchObject({ code: 'EPERM' })
    expect(held.renamings).toBe(7)
  })

  it.each([
    [true, 'ENOENT'],
    [false, 'EPERM'],
  ])('is refused at once where that says something else (on Windows: %s, %s)', async (isWindows, code) => {
    Object.assign(held, { refusals: 3, code })

    await expect(renamed(isWindows)).rejects.toMatchObject({ code })
    expect(held.renamings).toBe(1)
  })
})
