// A source that hangs, because its drive does: what waits for it keeps no place, and all places go to other files.

import { describe, expect, it } from 'vitest'
import { windowBodies } from '../../../src/core/attempt/window-bodies.ts'
import { createFixedEngine, type FixedEngine } from '../../../src/core/engine.ts'
import { UploadError } from '../../../src/core/errors.ts'
import type { Source } from '../../../src/core/ports.ts'
import type { WatchedSource } from '../../simulation/watched-source.ts'
import { createWorld, type World } from '../../simulation/world.ts'
import { nth, signal } from './transfer-rig.ts'

type OpenSource = Source & { readonly bytes: Uint8Array }

type Step = 'open' | 'read' | 'verify'

interface Drive {
  /** While it hangs, this step comes to no end for anything on it. */
  hang(): void
  comeBack(): void
  hold(source: WatchedSource): OpenSource
  /** How many times something on it was asked to open. */
  readonly openings: number
}

function drive(isHanging = true, step: Step = 'open'): Drive {
  let comeBack: () => void = () => undefined
  let back: Promise<void> | undefined
  let openings = 0
  const hang = (): void => void (back = new Promise((resolve) => (comeBack = resolve)))
  if (isHanging) hang()
  return {
    hang,
    comeBack: () => comeBack(),
    hold: (source) => ({
      ...source,
      async open(expected) {
        openings += 1
        if (step === 'open') await back
        const reader = await source.open(expected)
        return {
          ...reader,
          async read(into, at) {
            if (step === 'read') await back
            await reader.read(into, at)
          },
          async verify() {
            if (step === 'verify') await back
            await reader.verify()
          },
        }
      },
    }),
    get openings() {
      return openings
    },
  }
}

/** Takes no samples, so nothing but what happens makes it look for work. */
function fixedEngine({ clock, store }: World): FixedEngine {
  const bodies = windowBodies({ clock, concurrency: 4 })
  return createFixedEngine({ clock, transport: store, random: () => 0.5, concurrency: 4, bodies })
}
const ENGINES = [
  ['an engine that learns', ({ engine }: World): FixedEngine => engine],
  ['an engine of a fixed number', fixedEngine],
] as const

/** Lets all go on that needs no more than a minute. */
const aMinute = ({ clock }: World): Promise<void> => clock.advance(60_000)

describe('a file of many parts whose source does not open', () => {
  it('keeps one place, so that all others are confirmed meanwhile, and goes on when its drive is back', async () => {
    const world = createWorld()
    const hung = drive()
    const [large, ...small] = world.sources([1_000, 150, 2_500, 0, 1_350, 50])
    const job = world.job({ sources: [hung.hold(large!), ...small], partSizeBytes: 100 })
    const run = world.engine.run(job, signal())

    await aMinute(world)

    expect(job.confirmations.toSorted()).toEqual([1, 2, 3, 4, 5])
    expect([hung.openings, world.engine.stats().inFlight]).toEqual([1, 0])
    hung.comeBack()
    expect(await world.until(run)).toEqual({ confirmedCount: 6, failedCount: 0 })
    expect(world.store.content(0, 1_000)).toEqual(large!.bytes)
    expect([world.store.violations, world.clock.pending, large!.openCount]).toEqual([[], 0, 0])
  })

  it('keeps one place also where its parts wait for another attempt, of which all ended with its source closed', async () => {
    const refused = { kind: 'status', status: 500 } as const
    const hung = drive(false)
    const world = createWorld({ fault: nth([refused, refused, refused, refused]) })
    const [large, ...small] = world.sources([400, 500, 600])
    const job = world.job({ sources: [hung.hold(large!), ...small], partSizeBytes: 100 })
    const run = world.engine.run(job, signal())
    await world.clock.advance(0)
    hung.hang()

    await aMinute(world)

    expect(job.events.filter(({ type }) => type === 'retry')).toHaveLength(4)
    expect(job.confirmations.toSorted()).toEqual([1, 2])
    expect(world.engine.stats().inFlight).toBe(0)
    hung.comeBack()
    expect(await world.until(run)).toEqual({ confirmedCount: 3, failedCount: 0 })
    expect([world.store.violations, world.clock.pending]).toEqual([[], 0])
  })

  it.each(ENGINES)(
    'holds up no probe of a storage that was away, so that all others go on: %s',
    async (_, engineOf) => {
      const world = createWorld({ fault: ({ atMs }) => (atMs < 600_000 ? { kind: 'reset', share: 0.5 } : undefined) })
      const hung = drive()
      const [large, alone, ...healthy] = world.sources([1_000, 100, 500, 600])
      const sources = [hung.hold(large!), hung.hold(alone!), ...healthy]
      const job = world.job({ sources, partSizeBytes: 100 })
      const run = engineOf(world).run(job, signal())

      await world.clock.advance(700_000)

      expect(job.events.some(({ type }) => type === 'unreachable')).toBe(true)
      expect(job.confirmations.toSorted()).toEqual([2, 3])
      hung.comeBack()
      expect(await world.until(run)).toEqual({ confirmedCount: 4, failedCount: 0 })
      expect([world.store.violations, world.clock.pending]).toEqual([[], 0])
    },
  )

  it.each(ENGINES)('holds up no other as the probe of a storage that was away: %s', async (_, engineOf) => {
    const world = createWorld({ fault: ({ atMs }) => (atMs < 600 ? { kind: 'connect' } : undefined) })
    const hung = drive()
    const [a, b, c, d, large, alone] = world.sources([100, 100, 100, 100, 1_000, 1_001])
    const job = world.job({ sources: [a!, b!, c!, d!, hung.hold(large!), hung.hold(alone!)], partSizeBytes: 2_000 })
    const run = engineOf(world).run(job, signal())

    await aMinute(world)

    expect(job.confirmations.toSorted()).toEqual([0, 1, 2, 3])
    hung.comeBack()
    expect(await world.until(run)).toEqual({ confirmedCount: 6, failedCount: 0 })
    expect([world.store.violations, world.clock.pending]).toEqual([[], 0])
  })

  it.each(ENGINES)('holds up no other file at a storage that takes one part at once: %s', async (_, engineOf) => {
    const busy = { kind: 'status', status: 503, code: 'SlowDown' } as const
    const world = createWorld({ windowMs: 100, fault: () => (world.store.inFlight() > 1 ? busy : undefined) })
    const hung = drive()
    const [large, alone, ...healthy] = world.sources([1_000, 100, 3_000, 600])
    const sources = [hung.hold(large!), hung.hold(alone!), ...healthy]
    const job = world.job({ sources, partSizeBytes: 100 })
    const run = engineOf(world).run(job, signal())

    await world.clock.advance(600_000)

    expect(job.confirmations.toSorted()).toEqual([2, 3])
    hung.comeBack()
    expect(await world.until(run)).toEqual({ confirmedCount: 4, failedCount: 0 })
    expect([world.store.violations, world.clock.pending]).toEqual([[], 0])
  })

  it('is asked once where it cannot be opened, and fails alone', async () => {
    const world = createWorld()
    const gone = new UploadError('ERR_UPLOAD_SOURCE_READ', 'It is gone.')
    const [large, small] = world.sources([1_000, 150])
    const failing = drive(false)
    const source = failing.hold({ ...large!, open: () => Promise.reject(gone) })
    const job = world.job({ sources: [source, small!], partSizeBytes: 100 })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 1 })

    expect(failing.openings).toBe(1)
  })

  it('fails alone where it cannot be opened after all, and holds nothing up when its upload is stopped', async () => {
    const world = createWorld()
    const hung = drive()
    const [gone, small] = world.sources([1_000, 150])
    gone!.change()
    const stop = new AbortController()
    const run = world.engine.run(world.job({ sources: [hung.hold(gone!)], partSizeBytes: 100 }), stop.signal)
    const job = world.job({ sources: [hung.hold(gone!), small!], partSizeBytes: 100 })
    const other = world.engine.run(job, signal())
    await aMinute(world)

    stop.abort(new Error('paused'))
    await expect(world.until(run)).rejects.toThrow('paused')
    hung.comeBack()

    expect(await world.until(other)).toEqual({ confirmedCount: 1, failedCount: 1 })
    expect([world.engine.stats().inFlight, world.clock.pending]).toEqual([0, 0])
  })
})

describe.each(['open', 'read', 'verify'] as const)('files on a drive that hangs (%s)', (step) => {
  const manyFiles = (count: number, sizeBytes = 1_000): number[] => Array.from({ length: count }, () => sizeBytes)

  it.each(ENGINES)('hold up no other, however many they are, and go on when it is back: %s', async (_, engineOf) => {
    const world = createWorld()
    const hung = drive(true, step)
    const [large, ...others] = world.sources([2_000, ...manyFiles(20, 90), 2_100, 80, 1_900])
    const onDrive = [large!, ...others.slice(0, 20)]
    const sources = [...onDrive.map(hung.hold), ...others.slice(20)]
    const job = world.job({ sources, partSizeBytes: 100 })
    const engine = engineOf(world)
    const run = engine.run(job, signal())

    await aMinute(world)

    expect(job.confirmations.toSorted()).toEqual([21, 22, 23])
    expect(engine.stats().inFlight).toBe(0)
    hung.comeBack()
    expect(await world.until(run)).toEqual({ confirmedCount: 24, failedCount: 0 })
    expect(world.store.content(0, 2_000)).toEqual(large!.bytes)
    expect([world.store.violations, world.clock.pending, large!.openCount]).toEqual([[], 0, 0])
  })

  it('hold up no other session', async () => {
    const world = createWorld()
    const hung = drive(true, step)
    const [healthy, ...onDrive] = world.sources([1_000, ...manyFiles(8)])
    const stop = new AbortController()
    const job = world.job({ sources: onDrive.map(hung.hold), partSizeBytes: 100 })
    const run = world.engine.run(job, stop.signal)
    await world.clock.advance(1_000)

    const other = world.engine.run(world.job({ sources: [healthy!], partSizeBytes: 100 }), signal())

    expect(await world.until(other, 30_000)).toEqual({ confirmedCount: 1, failedCount: 0 })
    stop.abort(new Error('paused'))
    await expect(world.until(run, 15_000)).rejects.toThrow('paused')
    expect(world.engine.stats().inFlight).toBe(0)
  })
})

describe('files whose drive is back', () => {
  it('do not all go at once, and those that open slowly again are not put off for ever', async () => {
    const world = createWorld({ windowMs: 1_000 })
    const hung = drive()
    const sources = world.sources(Array.from({ length: 40 }, () => 90))
    const late = sources.map((source): OpenSource => {
      const held = hung.hold(source)
      const wait = (): Promise<void> => new Promise((resolve) => world.clock.setTimeout(resolve, 6_000))
      return { ...held, open: async (expected) => wait().then(() => held.open(expected)) }
    })
    const run = world.engine.run(world.job({ sources: late, partSizeBytes: 100 }), signal())
    await world.clock.advance(120_000)

    hung.comeBack()

    expect(await world.until(run)).toEqual({ confirmedCount: 40, failedCount: 0 })
    expect(world.store.maxInFlight).toBeLessThanOrEqual(8)
  })

  it('take no place of other sessions where their storage throttles, of which more are in flight than it may have', async () => {
    const busy = { kind: 'status', status: 503, code: 'SlowDown' } as const
    let taken = 0
    const world = createWorld({
      windowMs: ({ end }) => (end === 1_000 ? 25_000 : 1_000),
      fault: ({ end }) => (end === 2_000 && taken++ % 3 > 0 ? busy : undefined),
    })
    const hung = drive(true, 'read')
    const sources = world.sources(Array.from({ length: 52 }, (_, index) => (index < 12 ? 1_000 : 2_000)))
    const held = sources.map((source, index) => (index < 12 ? hung.hold(source) : source))
    const job = world.job({ sources: held, partSizeBytes: 2_000 })
    const run = world.engine.run(job, signal())
    for (let second = 0; second < 600 && job.confirmations.length < 40; second += 1) await world.clock.advance(1_000)
    hung.comeBack()
    await world.clock.advance(100)
    expect([job.confirmations.length, world.store.inFlight()]).toEqual([40, 12])

    const other = world.engine.run(world.job({ sources: world.sources([10]), partSizeBytes: 100 }), signal())

    expect(await world.until(other, 2_000)).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(await world.until(run)).toEqual({ confirmedCount: 52, failedCount: 0 })
  })

  it('lets a slow stream keep two windows for each part that is out, and no more', async () => {
    const world = createWorld()
    let hereBytes = 0
    let more: Promise<void> = Promise.resolve()
    const flow = (): void => {
      more = new Promise((resolve) =>
        world.clock.setTimeout(() => {
          hereBytes += 10
          resolve()
          if (hereBytes < 2_000) flow()
        }, 1_000),
      )
    }
    flow()
    const [stream, ...others] = world.sources([2_000, 900, 950])
    let readers = 0
    let mostReaders = 0
    const slow: OpenSource = {
      ...stream!,
      async open(expected) {
        const reader = await stream!.open(expected)
        return {
          ...reader,
          async read(into, at) {
            mostReaders = Math.max(mostReaders, (readers += 1))
            while (hereBytes < at + into.byteLength) await more
            readers -= 1
            await reader.read(into, at)
          },
        }
      },
    }
    const job = world.job({ sources: [slow, ...others], partSizeBytes: 100 })
    const run = world.engine.run(job, signal())

    await aMinute(world)

    expect(job.confirmations.toSorted()).toEqual([1, 2])
    expect(await world.until(run)).toEqual({ confirmedCount: 3, failedCount: 0 })
    expect(mostReaders).toBeLessThanOrEqual(8)
  })
})

describe('a file of which one read hangs', () => {
  it('sends nothing new because a part that was out meanwhile goes again', async () => {
    let refusals = 3
    const world = createWorld({
      windowMs: 8_000,
      fault: ({ fileIndex }) => (fileIndex === 0 && refusals-- > 0 ? { kind: 'status', status: 500 } : undefined),
    })
    const [source] = world.sources([2_000])
    const reads: number[] = []
    let comeBack: () => void = () => undefined
    const back = new Promise<void>((resolve) => (comeBack = resolve))
    const partly: OpenSource = {
      ...source!,
      async open(expected) {
        const reader = await source!.open(expected)
        return {
          ...reader,
          async read(into, at) {
            reads.push(at)
            // Only what the system has in memory can be read.
            if (at >= 300) await back
            await reader.read(into, at)
          },
        }
      },
    }
    const run = world.engine.run(world.job({ sources: [partly], partSizeBytes: 100 }), signal())

    await aMinute(world)

    expect(reads.toSorted((left, right) => left - right)).toEqual([0, 0, 100, 200, 300])
    comeBack()
    expect(await world.until(run)).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect([world.store.violations, world.clock.pending]).toEqual([[], 0])
  })
})

describe('a file of many parts whose source opens', () => {
  it.each([1, 4, 8])('has %i parts in flight in the same moment', async (concurrency) => {
    const world = createWorld({ engine: { concurrency }, windowMs: 1_000 })
    const job = world.job({ sources: world.sources([1_000]), partSizeBytes: 100 })
    const run = world.engine.run(job, signal())

    await world.clock.advance(0)

    expect(world.store.requests).toHaveLength(concurrency)
    expect(await world.until(run)).toEqual({ confirmedCount: 1, failedCount: 0 })
  })
})
