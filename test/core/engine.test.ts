// The engine: many parts of many files of many sessions, never more than the cap, and nothing left behind.

import { growth } from '../helpers/growth.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/core/adaptive-engine.ts'
import { createFixedEngine } from '../../src/core/engine.ts'
import type { TransportRequest } from '../../src/core/ports.ts'
import { windowBodies } from '../../src/core/attempt/window-bodies.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { createMemoryJob, refold, type MemoryJob } from '../simulation/memory-job.ts'
import { createObjectStore } from '../simulation/object-store.ts'
import { testProtocol } from '../simulation/test-protocol.ts'
import { watchedSource } from '../simulation/watched-source.ts'
import { createWorld, fill } from '../simulation/world.ts'

const signal = (): AbortSignal => new AbortController().signal
const unavailable = { status: 503, headers: {}, body: new Uint8Array(), isBodyCut: false }

describe('the engine', () => {
  it('sends every part of every file and confirms each file once; an empty file is one empty part', async () => {
    const world = createWorld()
    const sources = world.sources([1_000, 0, 350])
    const job = world.job({ sources, partSizeBytes: 100 })

    const result = await world.until(world.engine.run(job, signal()))

    expect(result).toEqual({ confirmedCount: 3, failedCount: 0 })
    expect(job.confirmations.toSorted()).toEqual([0, 1, 2])
    for (const [index, source] of sources.entries())
      expect(world.store.content(index, source.bytes.byteLength)).toEqual(source.bytes)
    expect(world.store.requests.filter(({ fileIndex }) => fileIndex === 1)).toMatchObject([{ start: 0, end: 0 }])
    expect([world.store.violations, world.clock.pending]).toEqual([[], 0])
  })

  it('is done at once with a session that has no files, or no file that is not settled', async () => {
    const world = createWorld()
    const settled = world.job({ sources: world.sources([10]) })
    await settled.record({ type: 'file.confirmed', fileIndex: 0 })

    expect(await world.until(world.engine.run(world.job({ sources: [] }), signal()))).toEqual({
      confirmedCount: 0,
      failedCount: 0,
    })
    expect(await world.until(world.engine.run(settled, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(world.store.requests).toEqual([])
  })

  it('makes its bodies itself, whatever options it shares with an engine that is given them', async () => {
    const shared = { bodies: undefined, concurrency: 3 }
    const world = createWorld({ engine: shared })

    const result = await world.until(world.engine.run(world.job({ sources: world.sources([500]) }), signal()))

    expect(result).toEqual({ confirmedCount: 1, failedCount: 0 })
  })

  it('refuses options that it could not keep', () => {
    const clock = createSimulatedClock()
    const make = (options: object) => () =>
      createEngine({ clock, transport: createObjectStore({ clock }), random: () => 0, ...options })

    expect(make({ concurrency: 0 })).toThrow('concurrency')
    expect(make({ concurrency: 65 })).toThrow('concurrency')
    expect(make({ concurrency: 1.5 })).toThrow('concurrency')
    expect(make({ memoryBytes: 1_000_000 })).toThrow('memoryBytes')
    expect(make({ limitRate: 0 })).toThrow('rate limit')
    expect(make({ retries: 0 })).toThrow('retries')
    expect(make({ retries: NaN })).toThrow('retries')
    expect(make({ giveUpAfterMs: NaN })).toThrow('giveUpAfterMs')
    expect(make({ timeouts: { stallMs: -1 } })).toThrow('timeouts')
  })

  it.each([{ answerMs: 5_000 }, { connectMs: undefined, answerMs: 5_000 }])(
    'waits by default for what the host gives no time: %o',
    async (timeouts) => {
      const world = createWorld()
      const { clock } = world
      const signals: AbortSignal[] = []
      const send = (request: TransportRequest) => {
        signals.push(request.signal)
        return new Promise<never>(() => undefined)
      }
      const transport = { ...world.store, send }
      const engine = createEngine({ clock, transport, random: () => 0.5, concurrency: 1, timeouts })

      void engine.run(world.job({ sources: world.sources([500]) }), signal())

      await clock.advance(14_999)
      expect(signals[0]?.aborted).toBe(false)
      await clock.advance(1)
      expect(signals[0]?.aborted).toBe(true)
    },
  )
})

describe('the engine without what a page may not need', () => {
  it('sends everything by its one number of parts, tries again what failed, and leaves nothing behind', async () => {
    const world = createWorld({ windowMs: 100 })
    let failures = 2
    const transport = {
      ...world.store,
      send(request: Parameters<typeof world.store.send>[0]) {
        failures -= 1
        return failures >= 0 ? Promise.resolve(unavailable) : world.store.send(request)
      },
    }
    const { clock } = world
    const bodies = windowBodies({ clock, concurrency: 3 })
    const engine = createFixedEngine({ clock, transport, random: () => 0.5, concurrency: 3, bodies })
    const sources = world.sources([500, 500])

    const result = await world.until(engine.run(world.job({ sources, partSizeBytes: 100 }), signal()))

    expect(result).toEqual({ confirmedCount: 2, failedCount: 0 })
    for (const [index, source] of sources.entries())
      expect(world.store.content(index, source.bytes.byteLength)).toEqual(source.bytes)
    expect([world.store.maxInFlight, world.store.violations, world.clock.pending]).toEqual([3, [], 0])
    expect(engine.stats()).toEqual({ inFlight: 0, cap: 3, waiting: 0 })
    expect('limitRate' in engine).toBe(false)
  })

  it('refuses options that it could not keep', () => {
    const clock = createSimulatedClock()
    const make = (options: object) => () =>
      createFixedEngine({ clock, transport: createObjectStore({ clock }), random: () => 0, concurrency: 1, ...options })

    for (const concurrency of [0, 65, 1.5, Number.NaN]) expect(make({ concurrency })).toThrow('concurrency')
    expect(make({ retries: 0 })).toThrow('retries')
    expect(make({ giveUpAfterMs: NaN })).toThrow('giveUpAfterMs')
    expect(make({ timeouts: { answerMs: NaN } })).toThrow('timeouts')
    expect(make({ timeouts: { answerMs: -1 } })).toThrow('timeouts')
    // A time to which a text is added is centuries away.
    expect(make({ giveUpAfterMs: '3600000' })).toThrow('giveUpAfterMs')
    expect(make({ timeouts: { answerMs: '60000' } })).toThrow('timeouts')
    expect(() => windowBodies({ clock, concurrency: 8, memoryBytes: 1_000_000 })).toThrow('memoryBytes')
  })
})

describe('the cap', () => {
  it('is kept, and filled', async () => {
    const world = createWorld({ windowMs: 100, engine: { concurrency: 3 } })
    const job = world.job({ sources: world.sources([500, 500]), partSizeBytes: 100 })

    await world.until(world.engine.run(job, signal()))

    // Ten parts of 100 ms each, three at a time, fill four rounds.
    expect([world.store.maxInFlight, world.clock.monotonicNow()]).toEqual([3, 400])
  })

  it('holds for any order in which answers come, with three sessions at once, and no session starves', async () => {
    const plan = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 5 }), plan, async (scheduler, cap, partCounts) => {
        const clock = createSimulatedClock()
        const store = createObjectStore({ clock })
        let inFlight = 0
        let most = 0
        let mostWaiting = 0
        const transport = {
          ...store,
          async send(request: Parameters<typeof store.send>[0]) {
            most = Math.max(most, (inFlight += 1))
            mostWaiting = Math.max(mostWaiting, engine.stats().waiting)
            try {
              await scheduler.schedule(Promise.resolve())
              return await store.send(request)
            } finally {
              inFlight -= 1
            }
          },
        }
        const engine = createEngine({ clock, transport, random: () => 0.5, concurrency: cap })
        // Different files of one storage, so that addresses differ between sessions.
        const jobs = Array.from({ length: 3 }, (_, session) => {
          const sources = partCounts.map((count, index) =>
            watchedSource(`${String(session)}-${String(index)}`, fill(count * 10, index)),
          )
          return createMemoryJob({ clock, sources, partSizeBytes: 10 })
        })
        const results = await scheduler.waitFor(Promise.all(jobs.map((job) => engine.run(apart(job), signal()))))

        expect(most).toBe(Math.min(cap, 3 * partCounts.reduce((sum, count) => sum + count, 0)))
        expect(mostWaiting).toBeLessThanOrEqual(cap)
        expect(results.map(({ confirmedCount }) => confirmedCount)).toEqual([0, 1, 2].map(() => partCounts.length))
        expect(clock.pending).toBe(0)
      }),
      { numRuns: 60 },
    )
  })

  it('lets sessions take turns', async () => {
    const world = createWorld({ windowMs: 10, engine: { concurrency: 1 } })
    const long = world.job({ sources: world.sources([2_000]), partSizeBytes: 100 })
    const short = world.job({ sources: world.sources([10, 300]), partSizeBytes: 100 })
    await short.record({ type: 'file.confirmed', fileIndex: 0 })
    const first = world.engine.run(long, signal())
    const second = world.engine.run(short, signal())

    await world.until(second)

    // The short one has 3 of the parts; the long one had at most one before each of them and one after.
    expect(world.clock.monotonicNow()).toBeLessThanOrEqual(70)
    await world.until(first)
  })

  it('never keeps more bytes in windows than the budget', async () => {
    const made: number[] = []
    const allocate = (bytes: number): Uint8Array => (made.push(bytes), new Uint8Array(bytes))
    const world = createWorld({ windowMs: 5, engine: { concurrency: 4, memoryBytes: 8 * 64 * 1024, allocate } })
    const sources = world.sources([900_000, 900_000])
    const job = world.job({ sources, partSizeBytes: 200_000 })

    await world.until(world.engine.run(job, signal()))

    // Two windows of each part at once.
    expect(made).toEqual(Array.from({ length: 8 }, () => 64 * 1024))
    expect(world.store.violations).toEqual([])
  })
})

describe('a pause', () => {
  it('settles with the reason when all attempts have ended, and the next run sends only what is missing', async () => {
    const world = createWorld({ windowMs: 100, engine: { concurrency: 2 } })
    const sources = world.sources([500, 200])
    const job = world.job({ sources, partSizeBytes: 100 })
    const controller = new AbortController()
    const reason = new Error('paused')
    world.clock.setTimeout(() => controller.abort(reason), 250)

    await expect(world.until(world.engine.run(job, controller.signal))).rejects.toBe(reason)

    expect([world.store.inFlight(), world.clock.pending, world.engine.stats().inFlight]).toEqual([0, 0, 0])
    expect(sources.map(({ openCount }) => openCount)).toEqual([0, 0])
    const firstLife = world.store.requests.length
    expect(firstLife).toBe(6)
    const again = world.job({ sources, partSizeBytes: 100, ledger: refold(job) })
    expect(await world.until(world.engine.run(again, signal()))).toEqual({ confirmedCount: 2, failedCount: 0 })
    // Four of seven parts were received; the smaller file went first. The two in flight at the pause go again.
    expect(world.store.requests.slice(firstLife).map(({ fileIndex, partNumber }) => [fileIndex, partNumber])).toEqual([
      [0, 3],
      [0, 4],
      [0, 5],
    ])
    expect(world.store.content(0, 500)).toEqual(sources[0]!.bytes)
  })

  it('records what was wholly handed over as doubtful before it settles', async () => {
    const world = createWorld({ answerMs: 1_000 })
    const job = world.job({ sources: world.sources([100]) })
    const controller = new AbortController()
    world.clock.setTimeout(() => controller.abort(new Error('paused')), 500)

    await expect(world.until(world.engine.run(job, controller.signal))).rejects.toThrow('paused')

    expect(job.records.map(({ type }) => type)).toEqual(['session.created', 'part.doubtful'])
  })

  it('frees its slots for another session at once', async () => {
    const world = createWorld({
      engine: { concurrency: 2 },
      fault: ({ partNumber }) => (partNumber <= 2 ? { kind: 'silence', phase: 'answer' } : undefined),
    })
    const stuck = world.job({ sources: world.sources([200]), partSizeBytes: 100 })
    const other = world.job({ sources: world.sources([1, 300]), partSizeBytes: 100 })
    for (const partNumber of [1, 2])
      await other.record({
        type: 'part.received',
        fileIndex: 1,
        partNumber,
        receipt: { acceptedEnd: partNumber * 100, isVerified: false },
      })
    await other.record({ type: 'file.confirmed', fileIndex: 0 })
    const controller = new AbortController()
    const paused = expect(world.engine.run(stuck, controller.signal)).rejects.toThrow('paused')
    await world.clock.advance(0)
    expect(world.engine.stats().inFlight).toBe(2)
    const going = world.engine.run(other, signal())
    world.clock.setTimeout(() => controller.abort(new Error('paused')), 1_000)

    await world.until(going)

    expect(world.clock.monotonicNow()).toBe(1_000)
    await paused
  })

  it('begins nothing under a signal that has fired, not even a confirmation', async () => {
    const world = createWorld()
    const job = world.job({ sources: world.sources([100, 100]) })
    await job.record({
      type: 'part.received',
      fileIndex: 0,
      partNumber: 1,
      receipt: { acceptedEnd: 100, isVerified: false },
    })

    await expect(world.engine.run(job, AbortSignal.abort(new Error('long ago')))).rejects.toThrow('long ago')
    await world.clock.advance(10_000)

    expect([world.store.requests, job.confirmations, world.clock.pending]).toEqual([[], [], 0])
  })

  it('begins no confirmation after it, also when many were queued', async () => {
    const world = createWorld()
    const controller = new AbortController()
    const job = world.job({
      sources: world.sources(Array.from({ length: 10 }, () => 10)),
      confirm: (_, stop) =>
        new Promise((_resolve, reject) => {
          stop.addEventListener('abort', () => reject(stop.reason as Error), { once: true })
        }),
    })
    world.clock.setTimeout(() => controller.abort(new Error('paused')), 500)

    await expect(world.until(world.engine.run(job, controller.signal))).rejects.toThrow('paused')
    await world.clock.advance(10_000)

    expect(job.confirmations).toHaveLength(4)
    expect(job.ledger.files.map(({ state }) => state)).toContain('received')
  })

  it('may come between any two answers, and the lives together store each byte and confirm once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 6 }), async (pauses) => {
        const world = createWorld({ windowMs: 30, answerMs: 20, engine: { concurrency: 3 } })
        const sources = world.sources([450, 120])
        const jobs: MemoryJob[] = []
        for (const pauseMs of [...pauses, undefined]) {
          const ledger = jobs.length === 0 ? undefined : refold(...jobs)
          const job = world.job({ sources, partSizeBytes: 100, ...(ledger === undefined ? {} : { ledger }) })
          jobs.push(job)
          const controller = new AbortController()
          const run = world.engine.run(job, controller.signal)
          if (pauseMs !== undefined) world.clock.setTimeout(() => controller.abort(new Error('paused')), pauseMs)
          await world.until(run).catch(() => undefined)
        }
        expect(jobs.flatMap(({ records }) => records).filter(({ type }) => type === 'file.confirmed')).toHaveLength(2)
        expect(world.store.violations).toEqual([])
        for (const [index, { bytes }] of sources.entries())
          expect(world.store.content(index, bytes.byteLength)).toEqual(bytes)
      }),
      { numRuns: 40 },
    )
  })
})

describe('waits', () => {
  it('are judged per attempt: a silent storage costs one wait and the part goes again', async () => {
    for (const [phase, waitMs] of [
      ['connect', 15_000],
      ['send', 30_000],
      ['answer', 60_000],
    ] as const) {
      let isFirst = true
      const world = createWorld({
        windowMs: 1,
        fault: () => (isFirst ? ((isFirst = false), { kind: 'silence', phase }) : undefined),
      })
      const job = world.job({ sources: world.sources([100]) })

      await world.until(world.engine.run(job, signal()))

      const second = world.store.requests[1]!
      expect(second.isFreshConnection).toBe(true)
      expect(second.atMs).toBeGreaterThanOrEqual(waitMs)
      expect(second.atMs).toBeLessThan(waitMs + 1_000)
    }
  })

  it('are not judged after a sleep of the machine: the attempt goes again on a fresh connection', async () => {
    const world = createWorld({ windowMs: 20_000 })
    const job = world.job({ sources: world.sources([100]) })
    const run = world.engine.run(job, signal())
    await world.clock.advance(1_000)
    world.clock.suspend(8 * 3_600_000)

    await world.until(run)

    const [event] = job.events.filter(({ type }) => type === 'retry')
    expect(event).toMatchObject({ error: { code: 'ERR_UPLOAD_TIMEOUT' } })
    expect(world.store.requests).toMatchObject([{ isFreshConnection: false }, { isFreshConnection: true }])
  })

  it('do not count while the disk is slower than any stall', async () => {
    const world = createWorld({ windowMs: 1 })
    const sources = world.sources([300_000], { readMs: () => 120_000 })
    const job = world.job({ sources, partSizeBytes: 300_000 })

    await world.until(world.engine.run(job, signal()))

    expect(world.store.requests).toHaveLength(1)
    expect(Buffer.compare(world.store.content(0, 300_000), sources[0]!.bytes)).toBe(0)
  })
})

describe('sources that are blobs', () => {
  it('go out unread', async () => {
    const world = createWorld()
    const sources = world.sources([250], { isBlob: true })
    const job = world.job({ sources, partSizeBytes: 100 })

    await world.until(world.engine.run(job, signal()))

    expect(world.store.content(0, 250)).toEqual(sources[0]!.bytes)
  })
})

describe('what it tells', () => {
  it('of bytes sent never falls within an attempt, never passes the length, and takes back what failed', async () => {
    const world = createWorld({
      windowMs: 1,
      engine: { concurrency: 1, memoryBytes: 2 * 64 * 1024 },
      fault: ({ atMs }) => (atMs < 1 ? { kind: 'reset', share: 0.9 } : undefined),
    })
    const job = world.job({ sources: world.sources([300_000]), partSizeBytes: 300_000 })

    await world.until(world.engine.run(job, signal()))

    const told = job.events.map((event) => (event.type === 'sent' ? event.sentBytes : event.type))
    expect(told).toEqual([
      ...[65_536, 131_072, 196_608, 262_144, 'attemptEnded', 'retry'],
      ...[65_536, 131_072, 196_608, 262_144, 300_000, 'received', 'fileState'],
    ])
  })
})

describe('size', () => {
  it('grows with the number of parts and not with its square: ten thousand are ordinary', async () => {
    const send = async (parts: number) => {
      const world = createWorld({ engine: { concurrency: 16 } })
      const job = world.job({ sources: world.sources([parts]), partSizeBytes: 1 })

      expect(await world.engine.run(job, signal())).toEqual({ confirmedCount: 1, failedCount: 0 })
      expect(world.store.requests).toHaveLength(parts)
    }

    expect(await growth(send, 1_000, 10_000)).toBeLessThan(15)
  })

  it.each(['session', 'batches'] as const)(
    'grows with the number of files and not with its square: ten thousand are ordinary (%s)',
    async (addressing) => {
      const send = async (files: number) => {
        const world = createWorld({ engine: { concurrency: 16 } })
        const sources = world.sources(Array.from({ length: files }, () => 1))
        const job = world.job({ sources, protocol: testProtocol({ addressing }) })

        expect(await world.engine.run(job, signal())).toEqual({ confirmedCount: files, failedCount: 0 })
      }

      expect(await growth(send, 1_000, 10_000)).toBeLessThan(15)
    },
  )
})

let sessionCount = 0

/** Gives a session addresses of its own. */
function apart(job: MemoryJob): MemoryJob {
  sessionCount += 1
  for (const file of job.ledger.files)
    file.addresses = file.addresses.map((address) =>
      address.replace('store.test/', `store.test/${String(sessionCount)}00`),
    )
  return job
}
