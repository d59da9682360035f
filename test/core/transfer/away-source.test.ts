// A source that cannot be read now, but may be in a moment or in some minutes: too many files are open, or its drive is away.

import { describe, expect, it } from 'vitest'
import { UploadError } from '../../../src/core/errors.ts'
import type { Source } from '../../../src/core/ports.ts'
import { testProtocol } from '../../simulation/test-protocol.ts'
import { createWorld } from '../../simulation/world.ts'
import { signal } from './transfer-rig.ts'

type OpenSource = Source & { readonly bytes: Uint8Array }

describe('a source that cannot be opened or read for a moment, such as with too many open files', () => {
  const passing = new UploadError('ERR_UPLOAD_SOURCE_READ', 'Too many files are open.', { isRetryable: true })

  it.each(['open', 'read'] as const)('fails no file: its parts go again (%s)', async (what) => {
    const world = createWorld()
    const [source] = world.sources([1_000])
    let failures = 0
    const fail = (): boolean => failures++ < 3
    const busy: OpenSource = {
      ...source!,
      async open(expected) {
        if (what === 'open' && fail()) throw passing
        const reader = await source!.open(expected)
        return {
          ...reader,
          read: (into, at) => (what === 'read' && fail() ? Promise.reject(passing) : reader.read(into, at)),
        }
      },
    }
    const job = world.job({ sources: [busy], partSizeBytes: 100 })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })

    expect(job.events.filter(({ type }) => type === 'retry')).toHaveLength(3)
    expect([world.store.content(0, 1_000), world.clock.pending, source!.openCount]).toEqual([source!.bytes, 0, 0])
  })

  it('is asked again for one part and after its wait, not for each of many parts at once', async () => {
    const world = createWorld()
    const [source, small] = world.sources([10_000, 150])
    const asked: number[] = []
    const busy: OpenSource = {
      ...source!,
      async open(expected) {
        asked.push(world.clock.monotonicNow())
        if (asked.length < 5) throw passing
        return source!.open(expected)
      },
    }
    const job = world.job({ sources: [busy, small!], partSizeBytes: 100 })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 2, failedCount: 0 })

    // A source is closed whenever no part of it is under way, so it may be opened again.
    const waits = asked.slice(1, 5).map((atMs, index) => atMs - asked[index]!)
    expect(waits).toEqual([250, 500, 1_000, 2_000])
    expect(job.events.filter(({ type }) => type === 'retry')).toHaveLength(4)
  })

  it('is opened anew where only that helps: its other parts do not keep what was opened before', async () => {
    const world = createWorld({ windowMs: 100 })
    const [source] = world.sources([100_000])
    let isRestarted = false
    const restarting: OpenSource = {
      ...source!,
      async open(expected) {
        const wasRestarted = isRestarted
        const reader = await source!.open(expected)
        return {
          ...reader,
          async read(into, at) {
            await new Promise<void>((resolve) => world.clock.setTimeout(resolve, 1 + (at % 7)))
            if (wasRestarted !== isRestarted) throw passing
            await reader.read(into, at)
          },
        }
      },
    }
    const job = world.job({ sources: [restarting], partSizeBytes: 100 })
    const run = world.engine.run(job, signal())
    await world.clock.advance(1_000)
    isRestarted = true

    expect(await world.until(run)).toEqual({ confirmedCount: 1, failedCount: 0 })

    const retries = job.events.flatMap((event) => (event.type === 'retry' ? [event.attempt] : []))
    expect(retries.length).toBeLessThanOrEqual(8)
    expect(new Set(retries)).toEqual(new Set([1]))
  })

  it.each([100, 1_000])('is asked again after its wait also while the storage is away (%i bytes)', async (size) => {
    const world = createWorld({ fault: ({ atMs }) => (atMs < 60_000 ? { kind: 'connect' } : undefined) })
    const [source] = world.sources([size])
    const asked: number[] = []
    const busy: OpenSource = {
      ...source!,
      async open(expected) {
        const nowMs = world.clock.monotonicNow()
        if (nowMs < 5_000 || nowMs > 45_000) return source!.open(expected)
        asked.push(nowMs)
        throw passing
      },
    }
    const job = world.job({ sources: [busy], partSizeBytes: 100 })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })

    expect(asked.length).toBeGreaterThan(1)
    expect(asked).toEqual([...new Set(asked)])
  })

  it('does not keep names from being registered while the storage is probed', async () => {
    const world = createWorld({ fault: ({ atMs }) => (atMs < 5_000 ? { kind: 'connect' } : undefined) })
    const sources = world.sources([4_000, 4_000, 100, 100])
    const isBusy = (): boolean => world.clock.monotonicNow() >= 1_000
    const busy = sources.slice(0, 2).map((source): OpenSource => {
      return { ...source, open: (expected) => (isBusy() ? Promise.reject(passing) : source.open(expected)) }
    })
    const protocol = testProtocol({ addressing: 'batches', batchSize: 1 })
    const job = world.job({ sources: [...busy, ...sources.slice(2)], protocol, partSizeBytes: 100 })
    const run = world.engine.run(job, signal())
    await world.clock.advance(0)
    expect(job.records.filter(({ type }) => type === 'files.registered')).toHaveLength(2)

    await world.clock.advance(12_000)

    expect(job.events.some(({ type }) => type === 'unreachable')).toBe(true)
    expect(job.confirmations).toEqual([2, 3])
    expect(await world.until(run)).toEqual({ confirmedCount: 2, failedCount: 2 })
  })

  it('goes as a probe like any other once it has opened', async () => {
    const world = createWorld({ fault: ({ atMs }) => (atMs < 600_000 ? { kind: 'connect' } : undefined) })
    const [source] = world.sources([100])
    let openings = 0
    const open: OpenSource['open'] = (expected) => (openings++ === 0 ? Promise.reject(passing) : source!.open(expected))
    const run = world.engine.run(world.job({ sources: [{ ...source!, open }], partSizeBytes: 100 }), signal())
    await world.clock.advance(300_000)
    const { length } = world.store.requests

    world.engine.probeNow()
    await world.clock.advance(0)

    expect(world.store.requests).toHaveLength(length + 1)
    expect(await world.until(run)).toEqual({ confirmedCount: 1, failedCount: 0 })
  })

  it('is held up no longer where it opens at once the next time', async () => {
    const world = createWorld()
    const [source] = world.sources([1_000])
    const reader = { ...(await source!.open({ sizeBytes: 1_000 })), close: () => Promise.resolve() }
    let openings = 0
    const open: OpenSource['open'] = () => (openings++ === 0 ? Promise.reject(passing) : reader)
    const job = world.job({ sources: [{ ...source!, open }], partSizeBytes: 100 })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })
  })

  it.each([100, 1_000])('sends again what a confirmation asks for again, with %i bytes', async (size) => {
    const world = createWorld()
    const [source] = world.sources([size])
    let [openings, confirmations] = [0, 0]
    const open: OpenSource['open'] = (expected) => (openings++ === 0 ? Promise.reject(passing) : source!.open(expected))
    const confirm = (): Promise<number[]> => Promise.resolve(confirmations++ === 0 ? [1] : [])
    const job = world.job({ sources: [{ ...source!, open }], partSizeBytes: 100, confirm })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(confirmations).toBe(2)
  })

  it('fails its file in the end, with the reason', async () => {
    const world = createWorld({ engine: { retries: 3 } })
    const [source] = world.sources([1_000])
    const job = world.job({ sources: [{ ...source!, open: () => Promise.reject(passing) }], partSizeBytes: 100 })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 0, failedCount: 1 })

    expect(job.records.at(-1)).toMatchObject({
      error: { code: 'ERR_UPLOAD_RETRIES_EXHAUSTED', message: expect.stringContaining('Too many files') as string },
    })
  })
})

describe('files on a drive that is away', () => {
  const away = new UploadError('ERR_UPLOAD_SOURCE_READ', 'Its drive does not answer.', { isRetryable: true })

  it.each(['open', 'read', 'verify'] as const)(
    'for ten minutes go on when it is back, are asked seldom, and hold up no other (%s)',
    async (step) => {
      const world = createWorld()
      const sources = world.sources([1_000, 90, 2_000, 1_500])
      const isAway = (): boolean => world.clock.monotonicNow() > 0 && world.clock.monotonicNow() < 600_000
      const asked: number[] = []
      const ask = (at: typeof step): void => {
        if (at !== step || !isAway()) return
        asked.push(world.clock.monotonicNow())
        throw away
      }
      const onDrive = sources.slice(0, 3).map((source): OpenSource => {
        return {
          ...source,
          async open(expected) {
            ask('open')
            const reader = await source.open(expected)
            return {
              ...reader,
              async read(into, at) {
                ask('read')
                await reader.read(into, at)
              },
              async verify() {
                ask('verify')
                await reader.verify()
              },
            }
          },
        }
      })
      await world.clock.advance(1)
      const job = world.job({ sources: [...onDrive, sources[3]!], partSizeBytes: 100 })
      const run = world.engine.run(job, signal())
      await world.clock.advance(60_000)

      expect(job.confirmations).toEqual([3])
      expect(await world.until(run)).toEqual({ confirmedCount: 4, failedCount: 0 })
      expect(world.clock.monotonicNow()).toBeLessThan(640_000)
      // A wait is 15 s in the middle. Once a file is open, each of the four parts that may be out reads of it.
      const most = 3 * (step === 'open' ? 1 : 4)
      expect(asked.length).toBeLessThan(most * 50)
      expect(asked.filter((atMs) => atMs > 300_000 && atMs < 400_000).length).toBeLessThanOrEqual(most * 8)
      expect(sources.map(({ openCount }) => openCount)).toEqual([0, 0, 0, 0])
      expect([world.store.violations, world.clock.pending]).toEqual([[], 0])
    },
  )

  it('lose the one that can never be read at one place, in a quarter of an hour, with the reason', async () => {
    const world = createWorld()
    const [broken, ...others] = world.sources([1_000, 2_000, 90])
    const bad: OpenSource = {
      ...broken!,
      async open(expected) {
        const reader = await broken!.open(expected)
        return { ...reader, read: (into, at) => (at === 700 ? Promise.reject(away) : reader.read(into, at)) }
      },
    }
    const job = world.job({ sources: [bad, ...others], partSizeBytes: 100 })
    const run = world.engine.run(job, signal())

    expect(await world.until(run, 1_000_000)).toEqual({ confirmedCount: 2, failedCount: 1 })

    expect(job.records.at(-1)).toMatchObject({
      type: 'file.failed',
      error: {
        code: 'ERR_UPLOAD_RETRIES_EXHAUSTED',
        message: 'file-0.bin: Gave up after 57 attempts. The last one: Its drive does not answer.',
        partNumber: 8,
      },
    })
  })
})
