// What every Clock promises. The subject says how its time is made to pass.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import type { Clock } from '../core/ports.ts'

/** A clock, and the means to make its time pass. */
export interface ClockSubject {
  readonly clock: Clock
  /** Lets this much time pass and settles when what fell due has fired. */
  advance(ms: number): Promise<void>
  readonly cleanUp?: () => void
}

/**
 * Declares the tests of a clock. `make` gives one for each test, with a way to let time pass: over simulated timers of the platform,
 * since three months go by. Checked: both times, the order of timers, clearing, and delays of any length. `utcOffsetMinutes` and
 * `isLagging` are not looked at, nor how exact the platform's timers are.
 */
export function clockContract(label: string, make: () => ClockSubject): void {
  describe(`${label}: the contract of a clock`, () => {
    let subject: ClockSubject
    let fired: string[]
    const fire = (name: string) => () => void fired.push(name)

    beforeEach(() => {
      subject = make()
      fired = []
    })
    afterEach(() => subject.cleanUp?.())

    it('moves wall and monotonic time on by what has passed', async () => {
      const { clock } = subject
      const wall = clock.wallNow()
      const monotonic = clock.monotonicNow()

      await subject.advance(1500)

      expect(clock.wallNow() - wall).toBe(1500)
      expect(clock.monotonicNow() - monotonic).toBeCloseTo(1500, 3)
    })

    it('says wall time in ms since 1970', () => {
      expect(subject.clock.wallNow()).toBeGreaterThan(Date.UTC(2024, 0))
      expect(subject.clock.wallNow()).toBeLessThan(Date.UTC(2100, 0))
    })

    it('fires a timer when its time has come, once, and not before', async () => {
      subject.clock.setTimeout(fire('a'), 100)

      await subject.advance(99)
      expect(fired).toEqual([])
      await subject.advance(1)
      expect(fired).toEqual(['a'])
      await subject.advance(1000)
      expect(fired).toEqual(['a'])
    })

    it('fires in the order of due time, and of setting where that is equal', async () => {
      const { clock } = subject
      clock.setTimeout(fire('c'), 30)
      clock.setTimeout(fire('a'), 10)
      clock.setTimeout(fire('d'), 30)
      clock.setTimeout(fire('b'), 20)

      await subject.advance(30)

      expect(fired).toEqual(['a', 'b', 'c', 'd'])
    })

    it('shows a callback the time at which it was due', async () => {
      const { clock } = subject
      const begin = clock.monotonicNow()
      const seen: number[] = []
      const delays = [10, 25, 15_000, 3_600_000]
      for (const delayMs of delays) clock.setTimeout(() => void seen.push(clock.monotonicNow() - begin), delayMs)

      await subject.advance(4_000_000)

      expect(seen.map(Math.round)).toEqual(delays)
    })

    it('fires timers that were set by timers and by promise jobs of timers', async () => {
      const { clock } = subject
      clock.setTimeout(() => {
        fired.push('first')
        void Promise.resolve().then(() => clock.setTimeout(fire('from a job'), 10))
        clock.setTimeout(fire('nested'), 5)
      }, 10)

      await subject.advance(20)

      expect(fired).toEqual(['first', 'nested', 'from a job'])
    })

    it('never calls back before setTimeout has returned, and takes a delay below 0 as 0', async () => {
      const { clock } = subject
      clock.setTimeout(fire('zero'), 0)
      clock.setTimeout(fire('negative'), -50)
      expect(fired).toEqual([])

      await subject.advance(1)

      expect(fired).toEqual(['zero', 'negative'])
    })

    it('does not fire what was cleared, also from another timer of the same moment', async () => {
      const { clock } = subject
      const cleared = clock.setTimeout(fire('cleared'), 10)
      clock.setTimeout(() => clock.clearTimeout(late), 10)
      const late = clock.setTimeout(fire('late'), 10)
      clock.setTimeout(fire('kept'), 10)
      clock.clearTimeout(cleared)

      await subject.advance(50)

      expect(fired).toEqual(['kept'])
    })

    it('takes it calmly when what is cleared has fired, was cleared before, or never was', async () => {
      const { clock } = subject
      const timer = clock.setTimeout(fire('a'), 1)
      clock.setTimeout(fire('b'), 10)
      await subject.advance(1)

      clock.clearTimeout(timer)
      clock.clearTimeout(timer)
      clock.clearTimeout(undefined)
      await subject.advance(10)

      expect(fired).toEqual(['a', 'b'])
    })

    it('keeps a delay of thirty days, and one without an end', async () => {
      const { clock } = subject
      const day = 24 * 3600 * 1000
      clock.setTimeout(fire('thirty days'), 30 * day)
      const never = clock.setTimeout(fire('never'), Infinity)
      const cleared = clock.setTimeout(fire('cleared'), 40 * day)

      await subject.advance(29 * day)
      expect(fired).toEqual([])
      clock.clearTimeout(cleared)
      await subject.advance(day)
      expect(fired).toEqual(['thirty days'])
      await subject.advance(60 * day)
      expect(fired).toEqual(['thirty days'])
      clock.clearTimeout(never)
    })

    it('does not need to be called on itself', async () => {
      const { clock } = subject
      const nobody = undefined as unknown as Clock

      clock.setTimeout.call(nobody, fire('a'), 5)
      clock.clearTimeout.call(nobody, clock.setTimeout.call(nobody, fire('b'), 5))
      await subject.advance(5)

      expect(fired).toEqual(['a'])
      expect(clock.wallNow.call(nobody)).toBe(clock.wallNow())
    })
  })
}
