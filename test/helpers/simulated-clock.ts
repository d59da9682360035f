// A clock that stands still until it is told to advance, so that a night's upload takes a moment. Also fits XState's `clock` option.

import type { Clock } from '../../src/core/ports.ts'

export interface SimulatedClock extends Clock {
  /**
   * Lets `ms` pass. Fires the timers that fall due, in order of due time and then of creation, each at its own moment. Runs every
   * promise job before the first timer, between timers and after the last. Includes timers that are set meanwhile. Rejects with
   * what a callback throws. `advance(0)` only runs promise jobs and fires what is due now. Only one call may be active at a time.
   */
  advance(ms: number): Promise<void>
  /**
   * Fires only the next timer, at its moment, and then runs every promise job. Faster than `advance`, but it requires
   * that no promise job is waiting and that nothing waits for a turn of the event loop.
   */
  step(): Promise<void>
  /** Suspends the machine: `ms` pass and nothing fires. Timers that fell due meanwhile fire late, at the next advance. */
  suspend(ms: number): void
  /** Sets the wall clock by `ms`. The monotonic clock and the timers do not notice. */
  shiftWall(ms: number): void
  /** The number of timers that are set and have not fired. */
  readonly pending: number
  /** Time until the next timer falls due, 0 if it is late; undefined if there is none. */
  readonly nextDueInMs: number | undefined
}

export interface SimulatedClockOptions {
  /** Default: 2026-11-20T20:00:00Z. */
  readonly wallStartMs?: number
}

interface Timer {
  readonly dueAt: number
  readonly order: number
  readonly callback: () => void
}

/**
 * A class because of its getters: V8 treats the getters of an object literal as long-lived, and with them everything
 * that they can reach, which is the whole night.
 */
class Queue {
  now = 0
  /** Sorted by due time and then by order, with the next timer last, because removing the last element is fast. */
  readonly timers: Timer[] = []

  get pending(): number {
    return this.timers.length
  }

  get nextDueInMs(): number | undefined {
    const next = this.timers.at(-1)
    return next === undefined ? undefined : Math.max(0, next.dueAt - this.now)
  }
}

export function createSimulatedClock(options: SimulatedClockOptions = {}): SimulatedClock {
  const queue = new Queue()
  const { timers } = queue
  let wallOffset = options.wallStartMs ?? Date.UTC(2026, 10, 20, 20)
  let order = 0
  let isAdvancing = false

  async function advance(ms: number): Promise<void> {
    if (!(ms >= 0 && Number.isFinite(ms))) throw new Error(`Time goes forward by a number of ms, not by ${String(ms)}.`)
    if (isAdvancing) throw new Error('The simulated clock is being advanced already: await that first.')
    isAdvancing = true
    try {
      const until = queue.now + ms
      await runPromiseJobs()
      for (let next = timers.at(-1); next !== undefined && next.dueAt <= until; next = timers.at(-1)) {
        timers.pop()
        queue.now = Math.max(queue.now, next.dueAt)
        next.callback()
        await runPromiseJobs()
      }
      queue.now = Math.max(queue.now, until)
    } finally {
      isAdvancing = false
    }
  }

  return Object.assign(queue, {
    wallNow: () => wallOffset + queue.now,
    monotonicNow: () => queue.now,
    setTimeout(callback: () => void, delayMs: number) {
      const timer: Timer = { dueAt: queue.now + (delayMs > 0 ? delayMs : 0), order: order++, callback }
      const place = placeOf(timers, timer)
      timers.push(timer)
      for (let at = timers.length - 1; at > place; at -= 1) timers[at] = timers[at - 1]!
      timers[place] = timer
      return timer
    },
    clearTimeout(timer: unknown) {
      const place = placeOf(timers, timer as Timer | undefined)
      if (timers[place] === timer) timers.splice(place, 1)
    },
    advance,
    step() {
      const next = timers.pop()
      if (next !== undefined) {
        queue.now = Math.max(queue.now, next.dueAt)
        next.callback()
      }
      return drainPromiseJobs()
    },
    suspend(ms: number) {
      queue.now += ms
    },
    shiftWall(ms: number) {
      wallOffset += ms
    },
  })
}

/** The first index whose timer does not fire after this one. A binary search, because ten thousand timers are common. */
function placeOf(timers: readonly Timer[], timer: Timer | undefined): number {
  if (timer === undefined) return timers.length
  let low = 0
  let high = timers.length
  while (low < high) {
    const middle = (low + high) >> 1
    const other = timers[middle]!
    if (other.dueAt > timer.dueAt || (other.dueAt === timer.dueAt && other.order > timer.order)) low = middle + 1
    else high = middle
  }
  return low
}

/** A turn of the event loop begins only when no promise job is left, however long the chain of jobs is. */
function runPromiseJobs(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The same without a turn of the event loop, which costs two system calls: Node runs its ticks when no promise job is left. */
function drainPromiseJobs(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}
