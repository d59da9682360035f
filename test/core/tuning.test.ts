// Whoever listens to the line leaves the transport what it says of itself: the engine judges stalls and stragglers by it.

import { describe, expect, it, onTestFinished } from 'vitest'
import { createUplink } from '../../src/browser.ts'
import { adaptiveTuning } from '../../src/core/adaptive-tuning.ts'
import { createTunedEngine } from '../../src/core/engine.ts'
import { lineHearing } from '../../src/core/line/hearing.ts'
import type { Transport, TransportRequest } from '../../src/core/ports.ts'
import { fixedTuning } from '../../src/core/tuning.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { createWorld } from '../simulation/world.ts'

const reply = { status: 200, headers: {}, body: new Uint8Array(), isBodyCut: false }

function aTransport(
  traits: Pick<Transport, 'isProgressLive' | 'hasQueue' | 'isResetByAbort' | 'controllers'>,
): Transport {
  return {
    ...traits,
    send: () => Promise.resolve(reply),
    endingOf: () => 'doubtful',
    roundTrip: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

const request: TransportRequest = {
  method: 'PUT',
  url: 'https://storage.example/a',
  headers: {},
  signal: new AbortController().signal,
}

describe('the transport that an engine sends with', () => {
  it.each([
    { isBackground: false, isOn: true },
    { isBackground: false, isOn: false },
    { isBackground: true, isOn: true },
    { isBackground: true, isOn: false },
  ])('keeps what it says of itself: %o', async ({ isBackground, isOn }) => {
    const controllers = { take: () => new AbortController(), giveBack: () => undefined }
    const traits = { isProgressLive: isOn, hasQueue: isOn, isResetByAbort: isOn, ...(isOn ? { controllers } : {}) }
    const clock = createSimulatedClock()
    const options = { transport: aTransport(traits), clock, random: () => 0.5, isBackground, hearing: lineHearing() }
    const tuning = adaptiveTuning(options)

    expect(tuning.transport).toMatchObject(traits)
    expect(tuning.transport.endingOf(request)).toBe('doubtful')
    await expect(tuning.transport.send(request)).resolves.toBe(reply)
  })

  it('is the host’s own where nothing listens', () => {
    const transport = aTransport({})
    expect(fixedTuning({ transport, clock: createSimulatedClock(), concurrency: 5 }).transport).toBe(transport)
  })
})

describe('one fixed number of parts', () => {
  const options = { transport: aTransport({}), clock: createSimulatedClock(), concurrency: 5 }

  it('refuses what it cannot keep, and names what can', () => {
    for (const asked of [{ concurrency: 'auto' as const }, { limitRate: 1_000 }, { isBackground: true }])
      expect(() => fixedTuning({ ...options, ...asked })).toThrow('mocap-uplink/tuning')
    expect(() => fixedTuning({ transport: options.transport, clock: options.clock })).toThrow('mocap-uplink/tuning')
    expect(() => fixedTuning(options).limitRate('1MB')).toThrow('mocap-uplink/tuning')
  })

  it.each([0, 65, 1.5, NaN, '4' as unknown as number])('is never %o', (concurrency) => {
    for (const makeTuning of [fixedTuning, adaptiveTuning])
      expect(() => makeTuning({ ...options, concurrency })).toThrow('whole number from 1 to 64')
  })

  it('keeps its number', () => {
    expect(fixedTuning({ ...options, isBackground: false }).limit()).toBe(5)
  })
})

describe('what an engine tells its tuning', () => {
  it('is when parts begin to go and when none is left, each that was taken, and all bytes, those in vain included', async () => {
    let answers = 0
    const world = createWorld({ fault: () => (answers++ === 1 ? { kind: 'status', status: 500 } : undefined) })
    const { clock, store: transport } = world
    const told: string[] = []
    let bytes = 0
    const engine = createTunedEngine({ clock, transport, random: () => 0.5 }, (options) => ({
      ...fixedTuning({ ...options, concurrency: 2 }),
      sample: () => ({
        begin: () => told.push('begin'),
        setActive: (isActive) => told.push(isActive ? 'active' : 'idle'),
        partDone: () => told.push('part'),
        addBytes: (more) => (bytes += more),
      }),
    }))
    const run = () => {
      const job = world.job({ sources: world.sources([300]), partSizeBytes: 100 })
      return engine.run(job, new AbortController().signal)
    }
    await world.until(Promise.all([run(), run()]))
    await world.clock.advance(60_000)
    await world.until(run())

    const parts = (count: number): string[] => Array.from({ length: count }, () => 'part')
    expect(told.filter((what) => what !== 'begin')).toEqual([
      'active',
      ...parts(6),
      'idle',
      'active',
      ...parts(3),
      'idle',
    ])
    expect(told.slice(0, 2)).toEqual(['active', 'begin'])
    expect(told.lastIndexOf('begin')).toBe(told.lastIndexOf('active') + 1)
    expect(bytes).toBe(1_000)
  })
})

describe('parts to a host so near that no line lies between', () => {
  it.each([
    ['nothing is hashed', undefined, 4],
    ['each is hashed by itself', {}, 4],
    ['eight are hashed together', { lanes: 8 }, 16],
  ])('are as many as keep it busy where %s', async (_, hasher, expected) => {
    const clock = createSimulatedClock()
    const tuning = adaptiveTuning({
      transport: {
        ...aTransport({}),
        roundTrip: () => new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), 1)),
      },
      ...{ clock, hearing: lineHearing() },
      ...(hasher === undefined ? {} : { hasher: { ...hasher, start: () => ({ update() {}, digest: () => '' }) } }),
    })
    const limits: number[] = []
    const sampling = tuning.sample?.({
      ...{ clock, inFlight: () => tuning.limit(), resize: () => undefined },
      sampled: () => void limits.push(tuning.limit()),
    })
    // By this it knows the host.
    await tuning.transport.send(request)
    sampling?.setActive(true)
    sampling?.begin()
    for (let tenth = 0; tenth < 7; tenth += 1) {
      sampling?.addBytes(1e8)
      await clock.advance(100)
    }

    expect(Math.max(...limits)).toBe(expected)
    sampling?.setActive(false)
  })
})

describe('parts under a limit of the rate', () => {
  /** A line that carries so many bytes in a tenth of a second, and answers after so long, ms. */
  async function limited(concurrency: number | 'auto' = 'auto') {
    const clock = createSimulatedClock()
    const line = { asked: 0, answerMs: 40, isIdle: false, signal: new AbortController().signal }
    const tuning = adaptiveTuning({
      transport: {
        ...aTransport({}),
        roundTrip: (_url, signal) => {
          line.asked += 1
          line.signal = signal
          return new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), line.answerMs))
        },
      },
      ...{ clock, hearing: lineHearing(), limitRate: 512 * 1024, concurrency },
    })
    const sampling = tuning.sample?.({
      ...{
        clock,
        inFlight: () => (line.isIdle ? 0 : tuning.limit()),
        resize: () => undefined,
        sampled: () => undefined,
      },
    })
    onTestFinished(() => sampling?.setActive(false))
    await tuning.transport.send(request)
    sampling?.setActive(true)
    sampling?.begin()
    const pass = async (seconds: number, bytesEachTenth: number): Promise<void> => {
      for (let tenth = 0; tenth < 10 * seconds; tenth += 1) {
        sampling?.addBytes(bytesEachTenth)
        await clock.advance(100)
      }
    }
    return { line, tuning, sampling, pass }
  }

  it('are as few as reach it, no connections are opened to learn more, and more are found once it is lifted', async () => {
    const { line, tuning, pass } = await limited()
    await pass(60, 51 * 1024)
    // One round trip goes beside the first part.
    expect([tuning.limit(), line.asked]).toEqual([2, 1])

    tuning.limitRate('off')
    await pass(10, 2e6)

    expect(line.asked).toBeGreaterThan(1)
    expect(tuning.limit()).toBeGreaterThan(4)
  })

  it('are the number that was given, and nothing is asked of the line then', async () => {
    const { line, tuning, pass } = await limited(8)
    await pass(10, 51 * 1024)

    expect([tuning.limit(), line.asked]).toEqual([8, 0])
  })

  it('are not looked for while none is under way, and no longer once all has been sent', async () => {
    const { line, tuning, sampling, pass } = await limited()
    tuning.limitRate('off')
    line.isIdle = true
    await pass(10, 0)
    expect(line.asked).toBe(1)

    line.isIdle = false
    line.answerMs = 60_000
    await pass(1, 2e6)
    expect([line.asked, line.signal.aborted]).toEqual([2, false])
    sampling?.setActive(false)
    expect(line.signal.aborted).toBe(true)
  })

  it('are not many more on a line that they fill, though it is lifted after hours: what an empty line answers is still known', async () => {
    const { line, tuning, pass } = await limited()
    await pass(2 * 3_600, 51 * 1024)
    expect(line.asked).toBeLessThan(30)

    tuning.limitRate('off')
    line.answerMs = 200
    await pass(20, 2.5e5)

    expect(tuning.limit()).toBeLessThanOrEqual(4)
  })
})

describe('a background upload', () => {
  it('begins with two parts, sends four at most, fills most of a line, and leaves no queue on it', async () => {
    const clock = createSimulatedClock()
    const [bytesPerMs, stepMs, piece] = [1_000, 10, 2_000]
    let queuedBytes = 0
    const tuning = adaptiveTuning({
      transport: {
        ...aTransport({}),
        roundTrip: () =>
          new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), 20 + queuedBytes / bytesPerMs)),
      },
      ...{ clock, isBackground: true },
    })
    const limits = new Set([tuning.limit()])
    const sampling = tuning.sample?.({
      ...{ clock, inFlight: () => tuning.limit(), resize: () => undefined },
      sampled: () => void limits.add(tuning.limit()),
    })
    // By this it knows the host.
    await tuning.transport.send(request)
    sampling?.setActive(true)
    sampling?.begin()
    let isWaiting = false
    const hand = (): void => {
      queuedBytes += piece
      sampling?.addBytes(piece)
      isWaiting = false
    }
    const later = { sentBytes: 0, queueMs: 0 }
    const [seconds, steps] = [40, 1_000 / stepMs]
    for (let step = 0; step < 2 * seconds * steps; step += 1) {
      // What a socket takes at most.
      while (!isWaiting && queuedBytes < 500_000) {
        isWaiting = true
        const leave = tuning.pace.take(piece, request.signal)
        if (leave === undefined) hand()
        else void leave.then(hand)
      }
      await clock.advance(stepMs)
      const sentBytes = Math.min(queuedBytes, bytesPerMs * stepMs)
      queuedBytes -= sentBytes
      if (step < seconds * steps) continue
      later.sentBytes += sentBytes
      later.queueMs += queuedBytes / bytesPerMs / (seconds * steps)
    }
    sampling?.setActive(false)

    expect([[...limits][0], Math.max(...limits)]).toEqual([2, 4])
    expect(later.sentBytes / (seconds * 1_000 * bytesPerMs)).toBeGreaterThan(0.7)
    expect(later.queueMs).toBeLessThan(30)
  })
})

describe('a page that gives way to others', () => {
  it('begins with as few parts at once as elsewhere: what is held back together goes out together', async () => {
    const credentials = { apiKey: 'own' }
    const uplink = createUplink({
      baseUrl: 'http://127.0.0.1:1',
      credentials,
      tuning: adaptiveTuning,
      isBackground: true,
    })
    onTestFinished(() => uplink.close())

    expect(uplink.stats().cap).toBe(2)
  })
})
