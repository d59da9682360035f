import { describe, expect, it } from 'vitest'
import { createActor, createMachine } from 'xstate'

import { clockContract } from '../../src/testing/clock-contract.ts'
import { createSimulatedClock } from './simulated-clock.ts'

clockContract('the simulated clock', () => {
  const clock = createSimulatedClock()
  return { clock, advance: (ms) => clock.advance(ms) }
})

describe('the simulated clock', () => {
  it('begins at the wall time it is given', () => {
    expect(createSimulatedClock({ wallStartMs: 1_789_000_000_000 }).wallNow()).toBe(1_789_000_000_000)
    expect(new Date(createSimulatedClock().wallNow()).toISOString()).toBe('2026-11-20T20:00:00.000Z')
  })

  it('counts the timers that are set, and says when the next one is due', async () => {
    const clock = createSimulatedClock()
    expect([clock.pending, clock.nextDueInMs]).toEqual([0, undefined])
    clock.setTimeout(() => undefined, 70)
    const cleared = clock.setTimeout(() => undefined, 50)
    expect([clock.pending, clock.nextDueInMs]).toEqual([2, 50])

    clock.clearTimeout(cleared)
    expect([clock.pending, clock.nextDueInMs]).toEqual([1, 70])
    await clock.advance(70)
    expect([clock.pending, clock.nextDueInMs]).toEqual([0, undefined])
  })

  it('lets a long chain of promise jobs end before the next timer fires', async () => {
    const clock = createSimulatedClock()
    const seen: string[] = []
    clock.setTimeout(() => {
      void (async () => {
        for (let job = 0; job < 1000; job += 1) await Promise.resolve()
        seen.push('chain')
      })()
    }, 10)
    clock.setTimeout(() => seen.push('timer'), 10)

    await clock.advance(10)

    expect(seen).toEqual(['chain', 'timer'])
  })

  it('runs the promise jobs of its caller before it looks for timers', async () => {
    const clock = createSimulatedClock()
    const seen: number[] = []
    void Promise.resolve().then(() => clock.setTimeout(() => seen.push(clock.monotonicNow()), 5))

    await clock.advance(5)

    expect(seen).toEqual([5])
  })

  it('fires late what fell due while the machine slept', async () => {
    const clock = createSimulatedClock()
    const seen: number[] = []
    clock.setTimeout(() => seen.push(clock.monotonicNow()), 10)

    clock.suspend(60_000)
    expect(seen).toEqual([])
    await clock.advance(0)

    expect(seen).toEqual([60_000])
  })

  it('moves the wall alone when somebody sets it', async () => {
    const clock = createSimulatedClock({ wallStartMs: 1000 })
    const seen: number[] = []
    clock.setTimeout(() => seen.push(clock.wallNow()), 10)

    clock.shiftWall(-500)
    await clock.advance(10)

    expect(seen).toEqual([510])
    expect(clock.monotonicNow()).toBe(10)
  })

  it('rejects with what a callback throws, and can go on', async () => {
    const clock = createSimulatedClock()
    const seen: string[] = []
    clock.setTimeout(() => {
      throw new Error('from the timer')
    }, 10)
    clock.setTimeout(() => seen.push('next'), 20)

    await expect(clock.advance(50)).rejects.toThrow('from the timer')
    await clock.advance(50)

    expect(seen).toEqual(['next'])
  })

  it('refuses to be advanced twice at once, or backwards', async () => {
    const clock = createSimulatedClock()
    const first = clock.advance(5)

    await expect(clock.advance(5)).rejects.toThrow('being advanced already')
    await first
    await expect(clock.advance(-1)).rejects.toThrow('Time goes forward')
    expect(clock.monotonicNow()).toBe(5)
  })

  it('stays quick with twenty thousand timers', async () => {
    const clock = createSimulatedClock()
    let fired = 0
    const timers = Array.from({ length: 20_000 }, (_, index) =>
      clock.setTimeout(() => (fired += 1), (index * 7919) % 1000),
    )
    for (const timer of timers.filter((_, index) => index % 2 === 0)) clock.clearTimeout(timer)

    await clock.advance(1000)

    expect(fired).toBe(10_000)
    expect(clock.pending).toBe(0)
  })

  it('drives a machine of XState', async () => {
    const clock = createSimulatedClock()
    const machine = createMachine({
      initial: 'waiting',
      states: { waiting: { after: { 5000: 'woken' } }, woken: { type: 'final' } },
    })
    const actor = createActor(machine, { clock }).start()

    await clock.advance(4999)
    expect(actor.getSnapshot().value).toBe('waiting')
    await clock.advance(1)

    expect(actor.getSnapshot().value).toBe('woken')
    expect(clock.pending).toBe(0)
  })
})
