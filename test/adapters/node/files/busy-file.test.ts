// A file that another program holds, so that the system refuses to open it.

import type * as fs from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { fileSourceOn } from '../../../../src/adapters/node/files/file-source.ts'
import { createSimulatedClock } from '../../../helpers/simulated-clock.ts'

/** How often the system still refuses, and how often it was asked. */
const held = vi.hoisted(() => ({ refusals: 0, openings: 0 }))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const refuse = (): void => {
    held.openings += 1
    held.refusals -= 1
    if (held.refusals >= 0) throw Object.assign(new Error('EBUSY: resource busy or locked'), { code: 'EBUSY' })
  }
  return {
    ...real,
    openSync(path: string, flags: number) {
      refuse()
      return real.openSync(path, flags)
    },
    open(path: string, flags: number, done: (error: Error | null, fd?: number) => void) {
      try {
        refuse()
        real.open(path, flags, done)
      } catch (error) {
        done(error as Error)
      }
    },
  }
})

let folder: string
let path: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'busy-file-'))
  path = join(folder, 'swing.mp4')
  await writeFile(path, new Uint8Array(10))
})
afterAll(() => rm(folder, { recursive: true }))
beforeEach(() => Object.assign(held, { refusals: 0, openings: 0 }))

describe.each([
  ['at once', { mayAskNow: () => true, askNow: <T>(work: () => T) => work() }],
  ['on a thread', { mayAskNow: () => false, askNow: <T>(work: () => T) => work() }],
])('a file that another program holds, asked for %s', (_, disk) => {
  const on = () => {
    const clock = createSimulatedClock()
    return { clock, source: fileSourceOn(disk, path, {}, clock) }
  }
  /** Lets each wait come to its end as soon as it has begun. */
  async function until<T>(clock: ReturnType<typeof createSimulatedClock>, asked: Promise<T> | T): Promise<T> {
    const state = { isOver: false }
    const over = Promise.resolve(asked).finally(() => (state.isOver = true))
    over.catch(() => undefined)
    while (!state.isOver) await clock.advance(clock.nextDueInMs ?? 0)
    return over
  }

  it('for a moment is looked at and opened after it', async () => {
    const { clock, source } = on()
    held.refusals = 3

    expect(await until(clock, source.describe())).toMatchObject({ sizeBytes: 10 })
    expect([held.openings, clock.monotonicNow()]).toEqual([4, 700])
    held.refusals = 2
    const reader = await until(clock, source.open({ sizeBytes: 10 }))
    await reader.close()
    expect([held.openings, clock.monotonicNow(), clock.pending]).toEqual([7, 1_000, 0])
  })

  it('is waited for no longer once nobody wants to know what it is', async () => {
    const { clock, source } = on()
    held.refusals = Infinity
    const stop = new AbortController()
    const looked = source.describe(stop.signal)
    looked.catch(() => undefined)
    await expect.poll(() => clock.pending).toBe(1)

    stop.abort(new Error('closed'))

    await expect(looked).rejects.toThrow('closed')
    expect(clock.pending).toBe(0)
  })

  it('for longer is told, and may be asked for again', async () => {
    const { clock, source } = on()
    held.refusals = Infinity

    const busy = { code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: true, details: { systemCode: 'EBUSY' } }
    await expect(until(clock, source.describe())).rejects.toMatchObject(busy)
    await expect(until(clock, source.open({ sizeBytes: 10 }))).rejects.toMatchObject(busy)
    expect([held.openings, clock.monotonicNow(), clock.pending]).toEqual([14, 12_600, 0])
  })
})
