// The controllers of attempts: the transport's own where it has some, each given back once, whatever became of its attempt.

import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/core/adaptive-engine.ts'
import { DEFAULT_TIMEOUTS } from '../../../src/core/attempt/watchdog.ts'
import { wholeBodies } from '../../../src/core/attempt/whole-body.ts'
import { windowBodies } from '../../../src/core/attempt/window-bodies.ts'
import { createStragglerResets } from '../../../src/core/line/straggler-resets.ts'
import { addressOf, createAttempts, type AttemptStart } from '../../../src/core/transfer/attempts.ts'
import { fixedTuning } from '../../../src/core/tuning.ts'
import type { LedgerFile } from '../../../src/core/journal/ledger.ts'
import type { Source, Transport, TransportRequest, Unit } from '../../../src/core/ports.ts'
import type { TransferEvent } from '../../../src/core/transfer/transfer-job.ts'
import { passTurns } from '../../helpers/pass-turns.ts'
import { createSessionAddresses } from '../../../src/core/transfer/session-addresses.ts'
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
      windowMs: ({ fileIndex, partNumber }) => (fileIndex === 1 ? 5 : partNumber === 1 ? 10 : 1_000),
      fault: ({ fileIndex, partNumber }) =>
        fileIndex === 0 && partNumber === 1 ? { kind: 'status', status: 400, code: 'EntityTooLarge' } : undefined,
    })

    expect(result).toEqual({ confirmedCount: 1, failedCount: 1 })
    expect(givenBack).toHaveLength(taken.length)
    expect(givenBack.filter(({ wasAborted }) => wasAborted)).toHaveLength(1)
  })
})

/** Stops a session at an event, or so many turns of the microtask queue after it, and runs another one on the same transport. */
async function nextAfterStop(eventNumber: number, turns: number) {
  const world = createWorld()
  const spare: AbortController[] = []
  const controllers: Transport['controllers'] = {
    take: () => spare.pop() ?? new AbortController(),
    giveBack(controller) {
      if (!controller.signal.aborted) spare.push(controller)
    },
  }
  const engine = createEngine({
    ...{ clock: world.clock, random: () => 0.5, concurrency: 2, memoryBytes: 4 * 64 * 1024 },
    transport: { ...world.store, controllers },
  })
  const job = world.job({ sources: world.sources([3_000]), partSizeBytes: 1_000 })
  const stop = new AbortController()
  let eventCount = 0
  const report = (): void => {
    eventCount += 1
    if (eventCount === eventNumber) void passTurns(turns).then(() => stop.abort(new Error('paused')))
  }
  await world.until(engine.run({ ...job, report }, stop.signal)).catch(() => undefined)
  const next = world.job({ sources: world.sources([3_000]), partSizeBytes: 1_000 })
  let result: unknown
  void engine.run(next, new AbortController().signal).then((found) => (result = found))
  await world.clock.advance(60_000)
  return { result, eventCount }
}

it('a session that is stopped at whatever moment leaves no aborted controller to the next session, which would never end', async () => {
  const { eventCount } = await nextAfterStop(Infinity, 0)
  expect(eventCount).toBeGreaterThan(5)
  for (let eventNumber = 1; eventNumber <= eventCount; eventNumber += 1) {
    for (let turns = 0; turns < 30; turns += 1) {
      const { result } = await nextAfterStop(eventNumber, turns)
      expect({ eventNumber, turns, result }).toEqual({
        ...{ eventNumber, turns },
        result: { confirmedCount: 1, failedCount: 0 },
      })
    }
  }
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
      ...{ transport: world.store, clock: world.clock, timeouts: DEFAULT_TIMEOUTS, bodies },
      hasher: { start: () => ({ update: () => undefined, digest: () => Promise.resolve('00'), dispose }) },
      pace: fixedTuning({ transport: world.store, clock: world.clock, concurrency: 2 }).pace,
      ...{ job, addresses: { judge: job.protocol.judge, isExpired: () => false } },
      onBytes: () => undefined,
      hold: () => undefined,
    })
    const [file] = job.ledger.files
    const unit = { fileIndex: 0, partNumber: 1, start: 0, end: 1_000 }
    const sent = attempts.send(firstTry(file!, unit), () => undefined)

    await expect(world.until(sent)).rejects.toThrow('freed twice')

    expect(world.store.requests).toHaveLength(1)
    expect([attempts.running.length, bodies.leasedBytes(), sources[0]!.openCount]).toEqual([0, 0, 0])
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

describe('a session that is stopped as one of its sources opens', () => {
  it('sends nothing of that source', async () => {
    const world = createWorld()
    const stop = new AbortController()
    const [source] = world.sources([1_000])
    const open: Source['open'] = (expected) => {
      stop.abort(new Error('cancelled'))
      return source!.open(expected)
    }

    const run = world.engine.run(world.job({ sources: [{ ...source!, open }] }), stop.signal)

    await expect(world.until(run)).rejects.toThrow('cancelled')
    expect(world.store.requests).toEqual([])
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
      ...{ transport, clock: world.clock, timeouts: DEFAULT_TIMEOUTS, bodies: undefined, hasher: undefined },
      pace: fixedTuning({ transport, clock: world.clock, concurrency: 2 }).pace,
      ...{ job, watchStragglers, addresses: { judge: job.protocol.judge, isExpired: () => false } },
      onBytes: () => undefined,
      hold: () => undefined,
    })
    const [file] = job.ledger.files
    const results = [1, 2].map((partNumber) => {
      const unit = { fileIndex: 0, partNumber, start: (partNumber - 1) * 1_000, end: partNumber * 1_000 }
      return attempts.send(firstTry(file!, unit), () => undefined)
    })
    await passTurns(20)

    attempts.resetStraggler(1_000, true)
    attempts.resetStraggler(2_000, true)
    attempts.resetStraggler(3_000, true)

    expect(looks).toEqual([2, 1, 0])
    for (const end of ends) end(new Error('reset'))
    expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(['aborted', 'aborted'])
  })
})

/** The first attempt at a part. */
function firstTry(file: LedgerFile, unit: Unit): AttemptStart {
  const turn = { unit, attempt: 1, usedTries: 0, isFreshConnection: false, isFirstComer: false, epoch: 0 }
  const times = { addressedAtMs: 0, beganAtMs: 0 }
  return { turn, file, address: addressOf(file, unit), generation: 0, ...times, addressesWere: undefined }
}

/** Attempts at two files of two parts, which end when the test says so; what is looked at and told is noted. */
function heldAttempts(isResetByAbort: boolean, isDead = false) {
  const world = createWorld()
  const requests: { readonly fileIndex: number; end(): void; readonly request: TransportRequest }[] = []
  const transport: Transport = {
    ...{ ...world.store, isResetByAbort },
    send: (request) =>
      new Promise((_, reject) => {
        const fileIndex = Number(new URL(request.url).pathname.split('/')[1])
        requests.push({ fileIndex, request, end: () => reject(request.signal.reason as Error) })
      }),
  }
  const spared: boolean[] = []
  const watchStragglers = () =>
    createStragglerResets((isSpared) => ({
      look([first]) {
        if (first !== undefined) spared.push(isSpared?.(first) === true)
        return first
      },
    }))
  const told: string[] = []
  const made = world.job({ sources: world.sources([2_000, 2_000], { isBlob: true }), partSizeBytes: 1_000 })
  const report = (event: TransferEvent): void => {
    if (event.type === 'sent') told.push(`sent ${event.unit.fileIndex}/${event.unit.partNumber} ${event.sentBytes}`)
  }
  const job = { ...made, report }
  const addresses = createSessionAddresses(world.clock, made.ledger, made.protocol, () => true)
  const attempts = createAttempts({
    ...{ transport, clock: world.clock, timeouts: DEFAULT_TIMEOUTS, bodies: undefined, hasher: undefined },
    pace: fixedTuning({ transport, clock: world.clock, concurrency: 2 }).pace,
    ...{
      job,
      watchStragglers,
      addresses: { ...addresses, isExpired: (attempt) => isDead || addresses.isExpired(attempt) },
    },
    onBytes: (bytes) => void told.push(`${bytes} bytes`),
    hold: () => undefined,
  })
  const file = (fileIndex: number): LedgerFile => made.ledger.files[fileIndex]!
  const units = [0, 1].map((fileIndex) => ({ fileIndex, partNumber: 2, start: 1_000, end: 2_000 }))
  const send = async (fileIndex: number) => {
    const unit = units[fileIndex]!
    const sent = attempts.send(firstTry(file(fileIndex), unit), () => undefined)
    await passTurns(20)
    return { sent }
  }
  return { attempts, send, requests, spared, told, file }
}

describe('an attempt that crawls', () => {
  it('is reset twice, and after that its part is spared', async () => {
    const { attempts, send, requests, spared } = heldAttempts(true)
    for (let round = 0; round < 4; round += 1) {
      const { sent } = await send(0)
      attempts.resetStraggler(round, true)
      requests[round]?.end()
      expect(await sent).toMatchObject({ kind: 'aborted' })
    }

    expect(spared).toEqual([false, false, true, true])
  })

  it('is not looked for where an abort does not reset the connection', async () => {
    const { attempts, send, requests, spared } = heldAttempts(false)
    await send(0)
    attempts.resetStraggler(0, true)

    expect([spared, requests[0]?.request.signal.aborted]).toEqual([[], false])
  })
})

describe('the attempts of a session', () => {
  it('end with their file, and no others; who waits for a file waits for all of its own', async () => {
    const { attempts, send, requests } = heldAttempts(true)
    await Promise.all([send(0), send(1)])
    let isIdle = false
    void attempts.idle(0).then(() => (isIdle = true))
    attempts.abortFile(0, new Error('It failed.'))
    expect(requests.map(({ request }) => request.signal.aborted)).toEqual([true, false])
    await passTurns(20)
    expect(isIdle).toBe(false)

    requests[0]?.end()
    await passTurns(20)
    expect([isIdle, attempts.running.length]).toEqual([true, 1])
    await attempts.idle(0)
  })

  it('tell of their bytes as they grow', async () => {
    const { send, requests, told } = heldAttempts(true)
    await send(0)
    requests[0]?.request.onSent?.(400)
    requests[0]?.request.onSent?.(1_000)

    expect(told).toEqual(['400 bytes', 'sent 0/2 400', '600 bytes', 'sent 0/2 1000'])
  })

  it('make no request with an address that has died, or that a newer one has replaced', async () => {
    const dead = heldAttempts(true, true)
    expect(await (await dead.send(0)).sent).toEqual({ kind: 'expired' })
    const replaced = heldAttempts(true)
    const sending = replaced.send(0)
    replaced.file(0).addresses = ['https://store.test/new/1', 'https://store.test/new/2']
    expect(await (await sending).sent).toEqual({ kind: 'expired' })

    expect([dead.requests, replaced.requests]).toEqual([[], []])
  })
})
