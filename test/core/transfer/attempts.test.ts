// The controllers of attempts: the transport's own where it has some, each given back once, whatever became of its attempt.

import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/core/adaptive-engine.ts'
import { DEFAULT_TIMEOUTS } from '../../../src/core/attempt/watchdog.ts'
import { wholeBodies } from '../../../src/core/attempt/whole-body.ts'
import { windowBodies } from '../../../src/core/attempt/window-bodies.ts'
import { createStragglerResets } from '../../../src/core/line/straggler-resets.ts'
import { addressOf, createAttempts } from '../../../src/core/transfer/attempts.ts'
import { fixedTuning } from '../../../src/core/tuning.ts'
import { passTurns } from '../../helpers/pass-turns.ts'
import { createWorld, type WorldOptions } from '../../simulation/world.ts'

/** Sends files in parts of 1,000 bytes, two at once, by a transport that counts what it gave out and what came back. */
async function countControllers(sizes: readonly number[], options: WorldOptions = {}) {
  const world = createWorld(options)
  const taken: AbortController[] = []
  const givenBack: { readonly controller: AbortController; readonly wasAborted: boolean }[] = []
  const signals: AbortSignal[] = []
  const engine = createEngine({
    ...{ clock: world.clock, random: () => 0.5, concurrency: 2 },
    transport: {
      ...world.store,
      controllers: {
        take() {
          const controller = new AbortController()
          taken.push(controller)
          return controller
        },
        giveBack(controller) {
          givenBack.push({ controller, wasAborted: controller.signal.aborted })
        },
      },
      send(request) {
        signals.push(request.signal)
        return world.store.send(request)
      },
    },
  })
  const job = world.job({ sources: world.sources(sizes), partSizeBytes: 1_000 })
  const result = await world.until(engine.run(job, new AbortController().signal))
  return { taken, givenBack, signals, result }
}

describe('the controller of an attempt', () => {
  it('is one of the transport, and is given back when the attempt has ended', async () => {
    const { taken, givenBack, signals } = await countControllers([10_000, 10_000])

    expect(signals).toHaveLength(20)
    expect(new Set(signals)).toEqual(new Set(taken.map(({ signal }) => signal)))
    expect(givenBack).toHaveLength(20)
    expect(new Set(givenBack.map(({ controller }) => controller))).toEqual(new Set(taken))
  })

  it('is given back when its attempt was aborted, and says so', async () => {
    // The first part of the first file is refused for good while its second is under way, which is aborted.
    const { taken, givenBack, result } = await countControllers([3_000, 10_000], {
      windowMs: ({ fileIndex, partNumber }) => (fileIndex === 0 && partNumber === 1 ? 10 : 1_000),
      fault: ({ fileIndex, partNumber }) =>
        fileIndex === 0 && partNumber === 1 ? { kind: 'status', status: 400, code: 'EntityTooLarge' } : undefined,
    })

    expect(result).toEqual({ confirmedCount: 1, failedCount: 1 })
    expect(givenBack).toHaveLength(taken.length)
    expect(givenBack.filter(({ wasAborted }) => wasAborted)).toHaveLength(1)
  })
})

describe('an attempt whose hash cannot be freed', () => {
  it('is over all the same, and gives its windows and its source back', async () => {
    const world = createWorld()
    const bodies = windowBodies({ clock: world.clock, concurrency: 2 })
    const sources = world.sources([1_000])
    const job = world.job({ sources })
    const dispose = (): never => {
      throw new TypeError('freed twice')
    }
    const attempts = createAttempts({
      ports: {
        ...{ transport: world.store, clock: world.clock, timeouts: DEFAULT_TIMEOUTS, bodies },
        hasher: { start: () => ({ update: () => undefined, digest: () => Promise.resolve('00'), dispose }) },
        pace: fixedTuning({ transport: world.store, clock: world.clock, concurrency: 2 }).pace,
      },
      ...{ job, addresses: { judge: job.protocol.judge, isExpired: () => false } },
      onBytes: () => undefined,
    })
    const [file] = job.ledger.files
    const unit = { fileIndex: 0, partNumber: 1, start: 0, end: 1_000 }
    const turn = { unit, attempt: 1, usedTries: 0, isFreshConnection: false, epoch: 0 }
    const sent = attempts.send({
      turn,
      file: file!,
      address: addressOf(file!, unit),
      generation: 0,
      addressedAtMs: 0,
      beganAtMs: 0,
      isLeftOver: false,
    })

    await expect(world.until(sent)).rejects.toThrow('freed twice')

    expect(world.store.requests).toHaveLength(1)
    expect([attempts.count(), bodies.leasedBytes(), sources[0]!.openCount]).toEqual([0, 0, 0])
  })
})

/**
 * Sends two files until the event of this number, or so many turns of the microtask queue after it; says which parts were handed
 * to the transport after that, and how many events there are in all.
 */
async function beginsAfterStop(eventNumber: number, turns: number, options: WorldOptions) {
  const world = createWorld()
  const stop = new AbortController()
  const late: string[] = []
  const engine = createEngine({
    ...{ clock: world.clock, random: () => 0.5, concurrency: 2, memoryBytes: 4 * 64 * 1024, ...options.engine },
    transport: {
      ...world.store,
      send(request) {
        if (stop.signal.aborted) late.push(new URL(request.url).pathname)
        return world.store.send(request)
      },
    },
  })
  const job = world.job({ sources: world.sources([3_000, 2_000]), partSizeBytes: 1_000 })
  let eventCount = 0
  const report = (): void => {
    eventCount += 1
    if (eventCount === eventNumber) void passTurns(turns).then(() => stop.abort(new Error('cancelled')))
  }
  await world.until(engine.run({ ...job, report }, stop.signal)).catch(() => undefined)
  return { late, eventCount }
}

describe('a session that is stopped by a listener of its events, or right after it', () => {
  it.each([
    ['through windows', {}],
    ['in one piece', { wholeBodies: wholeBodies() }],
  ])('begins no attempt any more, with parts that go %s', async (_, engine) => {
    const { eventCount } = await beginsAfterStop(Infinity, 0, { engine })
    expect(eventCount).toBeGreaterThan(9)
    for (let eventNumber = 1; eventNumber <= eventCount; eventNumber += 1) {
      for (let turns = 0; turns < 12; turns += 1) {
        const { late } = await beginsAfterStop(eventNumber, turns, { engine })
        expect({ eventNumber, turns, late }).toEqual({ eventNumber, turns, late: [] })
      }
    }
  })
})

describe('an attempt that was reset because it crawled', () => {
  it('is not looked at again while its end is awaited: it was named twice, and its part never spared', async () => {
    const world = createWorld()
    const looks: number[] = []
    const ends: ((reason: unknown) => void)[] = []
    /** Takes its time to end what was aborted, as a platform may. */
    const transport = {
      ...world.store,
      send: () => new Promise<never>((_, reject) => ends.push(reject)),
    }
    const watchStragglers = () =>
      createStragglerResets(() => ({
        look(moving) {
          looks.push(moving.length)
          return moving[0]
        },
      }))
    const job = world.job({ sources: world.sources([2_000], { isBlob: true }), partSizeBytes: 1_000 })
    const attempts = createAttempts({
      ports: {
        ...{ transport, clock: world.clock, timeouts: DEFAULT_TIMEOUTS, bodies: undefined, hasher: undefined },
        pace: fixedTuning({ transport, clock: world.clock, concurrency: 2 }).pace,
      },
      ...{ job, watchStragglers, addresses: { judge: job.protocol.judge, isExpired: () => false } },
      onBytes: () => undefined,
    })
    const [file] = job.ledger.files
    const results = [1, 2].map((partNumber) => {
      const unit = { fileIndex: 0, partNumber, start: (partNumber - 1) * 1_000, end: partNumber * 1_000 }
      const turn = { unit, attempt: 1, usedTries: 0, isFreshConnection: false, epoch: 0 }
      return attempts.send({
        turn,
        file: file!,
        address: addressOf(file!, unit),
        generation: 0,
        addressedAtMs: 0,
        beganAtMs: 0,
        isLeftOver: false,
      })
    })
    await passTurns(20)

    attempts.resetStraggler(1_000, true)
    attempts.resetStraggler(2_000, true)
    attempts.resetStraggler(3_000, true)

    expect(looks).toEqual([2, 1, 0])
    for (const end of ends) end(new Error('reset'))
    expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(['crawled', 'crawled'])
  })
})
