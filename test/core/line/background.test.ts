// The rate of an upload that must not be felt, on a model of a line: a bottleneck with a queue, a socket that takes more
// than the line carries until it is full, somebody else's traffic, and answers that vary.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBackground } from '../../../src/core/line/background.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'

interface Line {
  readonly bytesPerSecond: number
  readonly roundTripMs: number
  /** What the queue holds at most, ms of the line. */
  readonly queueMs: number
  /** How much an answer varies by itself, ms. */
  readonly jitterMs?: number
  /** Somebody else's share of the line at a time, 0 to 1; above one half their queue stands full. */
  readonly othersAt?: (atMs: number) => number
  /** Less than this is to be sent, bytes a second. */
  readonly offered?: number
  /** Time between two samples. */
  readonly everyMs?: number
  /** Each sample comes with another one, a moment later, as answers of parts do that were sent side by side. */
  readonly isPaired?: boolean
}

interface Second {
  readonly atMs: number
  /** Of the whole line. */
  readonly share: number
  /** The queueing that a ping would have seen, ms. */
  readonly queueMs: number
}

describe('a background upload', () => {
  it('carries seven tenths of any line once it knows it, and nobody waits more than 30 ms on average', () => {
    const lines = fc.record({
      bytesPerSecond: fc.integer({ min: 250_000, max: 60_000_000 }),
      roundTripMs: fc.integer({ min: 2, max: 200 }),
      queueMs: fc.integer({ min: 60, max: 2_000 }),
      jitterMs: fc.integer({ min: 0, max: 8 }),
    })
    fc.assert(
      fc.property(lines, fc.integer(), (line, seed) => {
        const seconds = run(line, 120_000, seed).filter(({ atMs }) => atMs > 20_000)

        expect(mean(seconds, 'share')).toBeGreaterThan(0.7)
        expect(mean(seconds, 'queueMs')).toBeLessThan(30)
        expect(highOf(seconds, 0.95)).toBeLessThan(100)
      }),
    )
  })

  it('falls below what the line carries while its queue drains, and then goes on a little below that', () => {
    const background = createBackground()
    const sample = (atMs: number, delayMs: number, bytesSince: number): number => {
      background.onSample({ atMs, delayMs, bytesSince })
      return background.bytesPerSecond()
    }
    for (let atMs = 0; atMs <= 1_000; atMs += 200) sample(atMs, 20, 200_000)
    const before = background.bytesPerSecond()
    sample(1_200, 120, 200_000)

    const drained = sample(1_400, 120, 200_000)
    const meanwhile = [1_600, 1_800, 2_000, 2_200, 2_400].map((atMs) => sample(atMs, atMs < 2_400 ? 20 : 35, 150_000))
    const after = sample(2_600, 35, 150_000)

    expect(before).toBeGreaterThan(1_000_000)
    expect(drained).toBeCloseTo(1_000_000 * 0.9 * (1 - 0.1), 0)
    expect(new Set(meanwhile)).toEqual(new Set([drained]))
    expect(after).toBeCloseTo(900_000, 0)
  })

  it('carries as much where answers come two at a time, and next to nothing goes between them', () => {
    const line = { bytesPerSecond: 2_500_000, roundTripMs: 30, queueMs: 250, isPaired: true }
    const seconds = run(line, 120_000, 3).filter(({ atMs }) => atMs > 20_000)

    expect(mean(seconds, 'share')).toBeGreaterThan(0.7)
    expect(mean(seconds, 'queueMs')).toBeLessThan(30)
  })

  it('makes way for others, down to an eighth at least, and is back within half a minute', () => {
    const isBusy = (atMs: number): boolean => atMs >= 60_000 && atMs < 120_000
    const line = { bytesPerSecond: 2_500_000, roundTripMs: 30, queueMs: 250 }
    const seconds = run({ ...line, othersAt: (atMs) => (isBusy(atMs) ? 0.9 : 0) }, 200_000, 1)
    const within = (from: number, to: number) => seconds.filter(({ atMs }) => atMs > from && atMs <= to)

    expect(mean(within(40_000, 60_000), 'share')).toBeGreaterThan(0.75)
    expect(mean(within(75_000, 120_000), 'share')).toBeLessThan(0.2)
    expect(mean(within(75_000, 120_000), 'share')).toBeGreaterThan(0.02)
    expect(mean(within(150_000, 200_000), 'share')).toBeGreaterThan(0.7)
  })

  it('follows a line that becomes ten times slower, and faster again', () => {
    const line = { bytesPerSecond: 12_500_000, roundTripMs: 30, queueMs: 250 }
    // What others take and never queue for is a slower line.
    const seconds = run({ ...line, slowAt: (atMs: number) => (atMs >= 60_000 && atMs < 120_000 ? 0.1 : 1) }, 200_000, 2)
    const within = (from: number, to: number) => seconds.filter(({ atMs }) => atMs > from && atMs <= to)

    expect(mean(within(75_000, 120_000), 'queueMs')).toBeLessThan(40)
    expect(mean(within(75_000, 120_000), 'share')).toBeGreaterThan(0.07)
    expect(mean(within(150_000, 200_000), 'share')).toBeGreaterThan(0.7)
  })

  it('has its rate back within the hour after an outage, where only the answers of large parts tell of the line', () => {
    const background = createBackground()
    const partBytes = 8 * 1024 * 1024
    let atMs = 0
    const sendPart = (): void => {
      const rate = Math.min(background.bytesPerSecond(), 2_000_000)
      atMs += (partBytes / rate) * 1_000
      const queueMs = background.bytesPerSecond() > rate ? 200 : 0
      background.onSample({ atMs, delayMs: 20 + queueMs, bytesSince: partBytes })
    }
    while (atMs < 3_600_000) sendPart()

    for (const bytesSince of [partBytes, 500_000]) {
      atMs += 60_000
      background.onSample({ atMs, delayMs: 60_000, bytesSince })
    }
    while (atMs < 7_200_000) sendPart()

    expect(background.bytesPerSecond()).toBeGreaterThan(1_400_000)
  })

  it('does not grow beyond what there is to send', () => {
    const background = createBackground()
    for (let atMs = 0; atMs < 600_000; atMs += 500) background.onSample({ atMs, delayMs: 20, bytesSince: 50_000 })

    expect(background.bytesPerSecond()).toBeLessThan(300_000)
  })

  it('does not take one late answer for a queue', () => {
    const background = createBackground()
    let lowest = Infinity
    for (let step = 0; step < 200; step += 1) {
      const bytesSince = Math.min(background.bytesPerSecond() / 2, 1_000_000)
      background.onSample({ atMs: step * 500, delayMs: step % 7 === 0 ? 900 : 20, bytesSince })
      if (step > 20) lowest = Math.min(lowest, background.bytesPerSecond())
    }

    expect(lowest).toBeGreaterThan(2_000_000)
  })
})

/** What happened in each second. */
function run(line: Line & { readonly slowAt?: (atMs: number) => number }, untilMs: number, seed: number): Second[] {
  const { roundTripMs, queueMs, jitterMs = 0, othersAt = () => 0, slowAt = () => 1, everyMs = 500 } = line
  const random = seededRandom(seed)
  const background = createBackground()
  const seconds: Second[] = []
  const stepMs = 10
  /** Ours that is in the queue, and in the socket behind it. */
  let queued = 0
  let inSocket = 0
  let since = 0
  let delivered = 0
  let waited = 0
  for (let atMs = 0; atMs < untilMs; atMs += stepMs) {
    const capacity = line.bytesPerSecond * slowAt(atMs)
    const others = othersAt(atMs)
    const othersQueueMs = others > 0.5 ? queueMs * 0.8 : 0
    const room = (capacity * queueMs) / 1000
    // A socket takes about as much as is under way, on top of that.
    const socketRoom = room + (capacity * roundTripMs) / 1000 + 100_000
    const offered = Math.min(background.bytesPerSecond(), line.offered ?? Infinity) * (stepMs / 1000)
    const taken = Math.min(offered, Math.max(0, socketRoom - inSocket))
    since += taken
    inSocket += taken
    const toQueue = Math.min(inSocket, room - queued + (capacity * stepMs) / 1000)
    inSocket -= Math.max(0, toQueue)
    queued += Math.max(0, toQueue)
    const out = Math.min(queued, (capacity * (1 - others) * stepMs) / 1000)
    queued -= out
    delivered += out
    const queueingMs = Math.min(queueMs, (queued / capacity) * 1000 + othersQueueMs)
    waited += queueingMs
    if (atMs % everyMs === 0) {
      const delayMs = roundTripMs + queueingMs + random() * jitterMs
      background.onSample({ atMs, delayMs, bytesSince: since })
      if (line.isPaired === true) background.onSample({ atMs: atMs + 1, delayMs, bytesSince: 0 })
      since = 0
    }
    if ((atMs + stepMs) % 1_000 === 0) {
      seconds.push({ atMs, share: delivered / line.bytesPerSecond, queueMs: waited / (1_000 / stepMs) })
      delivered = 0
      waited = 0
    }
  }
  return seconds
}

function mean(seconds: readonly Second[], field: 'share' | 'queueMs'): number {
  return seconds.reduce((sum, second) => sum + second[field], 0) / seconds.length
}

function highOf(seconds: readonly Second[], quantile: number): number {
  const sorted = seconds.map((second) => second.queueMs).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * quantile)]!
}
