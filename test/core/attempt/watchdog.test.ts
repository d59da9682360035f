// The watchdog: only time that the far end is responsible for counts.

import { describe, expect, it } from 'vitest'
import type { TransportError } from '../../../src/core/errors.ts'
import { createWatchdog, type Watchdog } from '../../../src/core/attempt/watchdog.ts'
import { createSimulatedClock, type SimulatedClock } from '../../helpers/simulated-clock.ts'

const TIMEOUTS = { connectMs: 15_000, stallMs: 30_000, answerMs: 60_000 }

describe('the watch over an attempt', () => {
  it('expires when no connection is made in time, and the attempt has not reached the host', async () => {
    const { clock, errors } = watch()

    await clock.advance(14_999)
    expect(errors).toEqual([])
    await clock.advance(1)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'connect', 'neverWhole']])
    expect(errors[0]!.message).toBe('Part 3 got no connection for 15 s.')
    expect(clock.pending).toBe(0)
  })

  it('expires when the body stands still, counted from its last move', async () => {
    const { clock, watchdog, errors } = watch()
    await clock.advance(10_000)
    watchdog.moved()
    await clock.advance(29_000)
    watchdog.moved()

    await clock.advance(29_999)
    expect(errors).toEqual([])
    await clock.advance(1)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'send', 'neverWhole']])
    expect(errors[0]!.message).toBe('Part 3 got no further on the line for 30 s.')
  })

  it('judges a stall in time also when it is shorter than the wait for a connection', async () => {
    const { clock, watchdog, errors } = watch({ ...TIMEOUTS, stallMs: 2_000 })
    await clock.advance(1_000)
    watchdog.moved()

    await clock.advance(2_000)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'send', 'neverWhole']])
  })

  it('does not count the time in which the body waits for us, however long', async () => {
    const { clock, watchdog, errors } = watch()
    watchdog.moved()
    watchdog.hold()
    await clock.advance(3_600_000)
    expect(errors).toEqual([])

    watchdog.resume()
    await clock.advance(29_999)
    expect(errors).toEqual([])
    await clock.advance(1)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'send', 'neverWhole']])
  })

  it('goes on holding when the line reports bytes that were given to it before', async () => {
    const { clock, watchdog, errors } = watch()
    watchdog.hold()
    watchdog.moved()

    await clock.advance(600_000)

    expect(errors).toEqual([])
  })

  it('waits for the answer from the last byte on, longer when the kernel may still hold much of a slow body', async () => {
    const { clock, watchdog, errors } = watch()
    watchdog.moved()
    // 1,000,000 bytes in 10 s: what a kernel may hold of them is gone after another 10 s.
    await clock.advance(10_000)
    watchdog.handedOver(1_000_000)

    await clock.advance(69_999)
    expect(errors).toEqual([])
    await clock.advance(1)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'answer', 'doubtful']])
    expect(errors[0]!.message).toBe('Part 3 got no answer for 60 s.')
  })

  it('waits for the answer eleven times as long as usual at most, however slow the body was', async () => {
    const { clock, watchdog, errors } = watch()
    watchdog.hold()
    await clock.advance(7_200_000)
    watchdog.handedOver(1_000_000)

    await clock.advance(659_999)
    expect(errors).toEqual([])
    await clock.advance(1)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'answer', 'doubtful']])
  })

  it('lets nothing move the wait for the answer once the body is gone', async () => {
    const { clock, watchdog, errors } = watch()
    watchdog.handedOver(0)

    watchdog.moved()
    watchdog.resume()
    watchdog.hold()
    await clock.advance(59_000)
    watchdog.handedOver(0)
    await clock.advance(1_000)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'answer', 'doubtful']])
  })

  it('takes a timer that is more than 5 s late for a machine that slept, not for a stall', async () => {
    const { clock, watchdog, errors } = watch()
    watchdog.moved()
    clock.suspend(8 * 3_600_000)

    await clock.advance(0)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'send', 'neverWhole']])
    expect(errors[0]!.message).toContain('suspended or busy for 28785 s')
  })

  it('takes no late timer for sleep beside which bytes moved, or while the platform holds timers back', async () => {
    const moving = watch()
    moving.watchdog.moved()
    moving.clock.suspend(60_000)
    moving.watchdog.moved()
    const hidden = watch()
    hidden.clock.isLagging = () => true
    hidden.watchdog.moved()
    hidden.clock.suspend(29_000)

    await moving.clock.advance(29_000)
    await hidden.clock.advance(0)

    expect([...moving.errors, ...hidden.errors]).toEqual([])
    await moving.clock.advance(1_000)
    expect(moving.errors[0]!.message).toBe('Part 3 got no further on the line for 30 s.')
  })

  it('counts the time to connect from the start, when a request had to wait for its place', async () => {
    const { clock, watchdog, errors } = watch()
    watchdog.hold()
    await clock.advance(3_601_000)
    watchdog.started()

    await clock.advance(14_999)
    expect(errors).toEqual([])
    await clock.advance(1)

    expect(errors[0]!.message).toBe('Part 3 got no connection for 15 s.')
  })

  it('forgives a timer that is a little late', async () => {
    const { clock, watchdog, errors } = watch()
    watchdog.moved()
    clock.suspend(19_000)

    await clock.advance(0)

    expect(errors).toEqual([])
  })

  it('waits for the answer also where the body was held when it was gone, and where it was empty', async () => {
    const { clock, watchdog, errors } = watch()
    await clock.advance(1_000)
    watchdog.hold()
    watchdog.handedOver(0)

    await clock.advance(59_999)
    expect(errors).toEqual([])
    await clock.advance(1)

    expect(about(errors)).toEqual([['ERR_UPLOAD_TIMEOUT', 'answer', 'doubtful']])
  })

  it('measures the rate of a body from its own start', async () => {
    const clock = createSimulatedClock()
    await clock.advance(3_600_000)
    const { watchdog, errors } = watch(TIMEOUTS, clock)
    await clock.advance(10_000)
    watchdog.handedOver(1_000_000)

    await clock.advance(69_999)
    expect(errors).toEqual([])
    await clock.advance(1)

    expect(errors).toHaveLength(1)
  })

  it('keeps one timer, also where a nearer one takes its place', async () => {
    const { clock, watchdog } = watch({ ...TIMEOUTS, answerMs: 1_000 })
    watchdog.handedOver(0)
    expect(clock.pending).toBe(1)

    watchdog.stop()
    expect(clock.pending).toBe(0)
  })

  it('does nothing any more once stopped, whatever a transport still reports', async () => {
    const { clock, watchdog, errors } = watch({ connectMs: 15_000, stallMs: 2_000, answerMs: 1_000 })
    watchdog.stop()

    watchdog.started()
    watchdog.moved()
    expect(clock.pending).toBe(0)
    watchdog.handedOver(10)
    expect(clock.pending).toBe(0)
    watchdog.stop()
    await clock.advance(1_000_000)
    expect(errors).toEqual([])
  })

  it('expires once', async () => {
    const { clock, watchdog, errors } = watch({ connectMs: 15_000, stallMs: 2_000, answerMs: 1_000 })
    await clock.advance(15_000)

    watchdog.started()
    watchdog.moved()
    watchdog.handedOver(5)
    await clock.advance(1_000_000)

    expect(errors).toHaveLength(1)
  })
})

function watch(
  timeouts = TIMEOUTS,
  clock = createSimulatedClock(),
): { clock: SimulatedClock; watchdog: Watchdog; errors: TransportError[] } {
  const errors: TransportError[] = []
  return { clock, errors, watchdog: createWatchdog(clock, timeouts, 'Part 3', (error) => errors.push(error)) }
}

function about(errors: readonly TransportError[]): string[][] {
  return errors.map(({ code, phase, ending }) => [code, phase, ending])
}
