// Leave to send, on simulated time: the rate is kept over all who ask, smoothly, whatever changes meanwhile.

import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPace, type Pace } from '../../../src/core/line/pace.ts'
import { createSimulatedClock, type SimulatedClock } from '../../helpers/simulated-clock.ts'

interface Sent {
  readonly atMs: number
  readonly bytes: number
}

describe('a pace', () => {
  it('keeps the rate within 5 % over 10 s and bursts within a tenth of a second, for any number of senders and late timers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 50_000, max: 4_000_000 }),
        fc.integer({ min: 1, max: 16 }),
        fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 10, maxLength: 40 }),
        async (rate, senders, late) => {
          const clock = lateClock(late)
          const sent = await run(clock, createPace(clock, rate), senders, 11_500)

          const tenSeconds = between(sent, 1_000, 11_000)
          expect(tenSeconds).toBeGreaterThan(rate * 10 * 0.95)
          expect(tenSeconds).toBeLessThan(rate * 10 * 1.05)
          for (let from = 0; from < 11_000; from += 250) {
            // What may go at once, and what the rate gives meanwhile.
            expect(between(sent, from, from + 1)).toBeLessThanOrEqual(rate * 0.101)
            expect(between(sent, from, from + 250)).toBeLessThanOrEqual(rate * 0.351)
          }
        },
      ),
      { numRuns: 15 },
    )
  })

  it('gives senders their turns in the order in which they asked', async () => {
    const clock = createSimulatedClock()
    const pace = createPace(clock, 1_000)
    const order: number[] = []
    const asks = [0, 1, 2, 3].map((sender) =>
      Promise.resolve(pace.take(500, new AbortController().signal)).then(() => order.push(sender)),
    )
    await clock.advance(3_000)
    await Promise.all(asks)

    expect(order).toEqual([0, 1, 2, 3])
    expect(clock.pending).toBe(0)
  })

  it('spends nothing for who leaves, and leaves no timer and no listener', async () => {
    const clock = createSimulatedClock()
    const pace = createPace(clock, 1_000)
    const leaver = new AbortController()
    void pace.take(1_000, leaver.signal)
    const left = pace.take(60_000, leaver.signal)
    const next = pace.take(100, new AbortController().signal)
    let isNext = false
    void next?.then(() => (isNext = true))
    leaver.abort(new Error('paused'))

    await expect(left).rejects.toThrow('paused')
    await expect(pace.take(1, leaver.signal)).rejects.toThrow('paused')
    await clock.advance(950)
    expect([isNext, clock.pending]).toEqual([true, 0])
  })

  it('has no timer once the last who waits has gone or left, and no listener at who went', async () => {
    const clock = createSimulatedClock()
    const pace = createPace(clock, 1_000)
    const { signal } = new AbortController()
    void pace.take(1_000, signal)
    const waiting = pace.take(10, signal)
    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([1, 1])
    pace.setLimit('off')
    await waiting
    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([0, 0])

    pace.setLimit(1_000)
    void pace.take(1_000, signal)
    const leaver = new AbortController()
    const left = pace.take(10, leaver.signal)
    leaver.abort(new Error('paused'))
    await expect(left).rejects.toThrow('paused')
    expect(clock.pending).toBe(0)
  })

  it('lets nobody pass who asks while others wait, though their timer is late', async () => {
    const clock = createSimulatedClock()
    const pace = createPace(clock, 1_000)
    const { signal } = new AbortController()
    void pace.take(1_000, signal)
    const first = pace.take(10, signal)
    clock.suspend(5_000)

    expect(pace.take(10, signal)).toBeInstanceOf(Promise)
    await first
  })

  it('lets those who wait go within a second of a change in the timetable, however much is owed', async () => {
    const clock = createSimulatedClock({ wallStartMs: Date.UTC(2026, 10, 20, 22, 59, 30) })
    const pace = createPace(clock, '08:00,1KB 23:00,off')
    const { signal } = new AbortController()
    void pace.take(1_000_000, signal)
    let wentAtMs: number | undefined
    void pace.take(10, signal)?.then(() => (wentAtMs = clock.monotonicNow()))
    await clock.advance(40_000)

    expect(wentAtMs).toBeGreaterThanOrEqual(30_000)
    expect(wentAtMs).toBeLessThanOrEqual(31_000)
  })

  it('changes at once, for those who wait too, and keeps its limit when the new one is refused', async () => {
    const clock = createSimulatedClock()
    const pace = createPace(clock, 100)
    const sending = run(clock, pace, 4, 30_000, [
      [10_000, () => pace.setLimit('1MB')],
      [15_000, () => expect(() => pace.setLimit('fast')).toThrow('not a size')],
      [20_000, () => pace.setLimit('off')],
      [20_001, () => pace.setLimit(2_000)],
    ])
    const sent = await sending

    expect(between(sent, 10_000, 20_000)).toBeGreaterThan(9_500_000)
    expect(between(sent, 10_000, 20_000)).toBeLessThan(10_500_000)
    expect(between(sent, 20_100, 30_000)).toBeLessThan(25_000)
  })

  it('follows a timetable within a second, over midnight', async () => {
    const clock = createSimulatedClock({ wallStartMs: Date.UTC(2026, 10, 20, 23, 59, 50) })
    const sent = await run(clock, createPace(clock, '00:00,200KB 08:00,50KB'), 3, 20_000)

    expect(between(sent, 0, 10_000) / 500_000).toBeCloseTo(1, 1)
    expect(between(sent, 11_000, 20_000) / 1_800_000).toBeCloseTo(1, 1)
  })

  it('stays below a ceiling as well as below its limit', async () => {
    const clock = createSimulatedClock()
    const pace = createPace(clock, 100_000)
    pace.setCeiling(40_000)
    const sent = await run(clock, pace, 2, 20_000, [[10_000, () => pace.setCeiling(900_000)]])

    expect(between(sent, 0, 10_000) / 400_000).toBeCloseTo(1, 1)
    expect(between(sent, 10_000, 20_000) / 1_000_000).toBeCloseTo(1, 1)
    pace.setLimit('off')
    expect(pace.isLimited()).toBe(true)
    pace.setCeiling(undefined)
    expect([pace.isLimited(), pace.pieceBytes()]).toEqual([false, Infinity])
  })
})

/** Senders that always have something to send; what went is noted. Ends at `untilMs` with all of them gone. */
async function run(
  clock: SimulatedClock,
  pace: Pace,
  senders: number,
  untilMs: number,
  steps: readonly (readonly [number, () => void])[] = [],
): Promise<Sent[]> {
  const sent: Sent[] = []
  const controllers = Array.from({ length: senders }, () => new AbortController())
  for (const [atMs, step] of steps) clock.setTimeout(step, atMs)
  const send = async ({ signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      // Without a limit a line would be the bound: here a millisecond for each window.
      if (!pace.isLimited()) await new Promise<void>((resolve) => clock.setTimeout(resolve, 1))
      const bytes = Math.min(65_536, pace.pieceBytes())
      await pace.take(bytes, signal)
      sent.push({ atMs: clock.monotonicNow(), bytes })
    }
  }
  const all = Promise.allSettled(controllers.map(send))
  await clock.advance(untilMs)
  for (const controller of controllers) controller.abort(new Error('over'))
  await clock.advance(10)
  await all
  return sent
}

function between(sent: readonly Sent[], fromMs: number, toMs: number): number {
  return sent.reduce((sum, { atMs, bytes }) => sum + (atMs >= fromMs && atMs < toMs ? bytes : 0), 0)
}

/** A clock whose timers fire late. */
function lateClock(late: readonly number[]): SimulatedClock {
  const clock = createSimulatedClock()
  let count = 0
  return {
    ...clock,
    setTimeout: (callback, delayMs) => clock.setTimeout(callback, delayMs + late[count++ % late.length]!),
  }
}
