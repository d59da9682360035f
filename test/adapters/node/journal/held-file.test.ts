// A file that was just written and that another program holds, as a virus scanner of Windows does, so that it cannot be renamed.

import { mkdtemp, readdir, rm, type rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { diskJournal } from '../../../../src/adapters/node/journal/disk-journal.ts'
import { renameWritten } from '../../../../src/adapters/node/journal/durable-file.ts'
import { createSimulatedClock } from '../../../helpers/simulated-clock.ts'

/** How often the system still refuses to give such a name, with which code, and how often it was asked for one. */
const held = vi.hoisted(() => ({ name: '', refusals: 0, code: '', renamings: 0, isKept: false }))

vi.mock('node:fs/promises', async (original) => {
  const whole = await original<{ rename: typeof rename; rm: typeof rm }>()
  return {
    ...whole,
    rm: (path: string, options: object) =>
      held.isKept && path.includes('lock-')
        ? Promise.reject(Object.assign(new Error(), { code: held.code }))
        : whole.rm(path, options),
    rename(from: string, to: string) {
      if (!to.includes(held.name)) return whole.rename(from, to)
      held.renamings += 1
      held.refusals -= 1
      if (held.refusals >= 0) return Promise.reject(Object.assign(new Error(), { code: held.code }))
      return held.name === '' ? Promise.resolve() : whole.rename(from, to)
    },
  }
})

/** Renames while each wait comes to its end as soon as it has begun. */
async function renamed(isWindows: boolean): Promise<void> {
  const clock = createSimulatedClock()
  const state = { isOver: false }
  const over = renameWritten('journal.new', 'journal', clock, isWindows).finally(() => (state.isOver = true))
  over.catch(() => undefined)
  while (!state.isOver) await clock.advance(100)
  await over
}

async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'held-file-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function onWindows(): void {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
}

describe('a file that another program holds', () => {
  beforeEach(() => Object.assign(held, { name: '', refusals: 0, code: 'EPERM', renamings: 0, isKept: false }))

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

  it.each([
    ['is removed on Windows once that has let go of it', 2],
    ['stays, and is not locked, if that has held it for six seconds', Infinity],
  ])('of a session %s', async (_what, refusals) => {
    const folder = await aFolder()
    const journal = diskJournal({ folder })
    held.name = 'removed-'
    const session = await journal.open('night')
    await session.append([{ type: 'session.cancelling', at: 1 }])
    await session.close()
    held.refusals = refusals
    onWindows()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())

    const state = { isOver: false }
    const removal = journal.remove('night').finally(() => (state.isOver = true))
    removal.catch(() => undefined)
    while (!state.isOver) {
      await new Promise(setImmediate)
      await vi.advanceTimersByTimeAsync(100)
    }

    if (refusals === Infinity) {
      await expect(removal).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL', details: { systemCode: 'EPERM' } })
      expect(await readdir(join(folder, 'session-night'))).toEqual(['journal'])
    } else {
      await removal
      expect(await readdir(folder)).toEqual([])
    }
  })

  it.each([
    ['another one is made a moment later', 1],
    ['it is no use to ask without end', Infinity],
  ])('of a lock that is being made on Windows is left there: %s', async (_what, refusals) => {
    const folder = await aFolder()
    Object.assign(held, { name: 'lock', refusals, isKept: true })
    onWindows()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 })
    onTestFinished(() => void vi.useRealTimers())

    const state = { isOver: false }
    const opening = diskJournal({ folder })
      .open('night')
      .finally(() => (state.isOver = true))
    opening.catch(() => undefined)
    while (!state.isOver) {
      await new Promise(setImmediate)
      await vi.advanceTimersToNextTimerAsync()
    }

    if (refusals === 1) await (await opening).close()
    else await expect(opening).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL', details: { systemCode: 'EPERM' } })
    expect([Date.now(), held.renamings]).toEqual(refusals === 1 ? [100, 2] : [6_300, 7])
  })
})
