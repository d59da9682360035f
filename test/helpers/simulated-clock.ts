// A clock that stands still until it is told to go on: a night's upload takes a moment. Also fits XState's `clock` option.

import type { Clock } from '../../src/core/ports.ts'

export interface SimulatedClock extends Clock {
  /**
   * Lets `ms` pass: fires the timers that fall due, in order of due time and then of setting, each at its own moment, and
   * lets every promise job run before the first, between them and after the last. Timers set meanwhile count. Rejects with what a
   * callback throws. `advance(0)` only lets promise jobs run and fires what is due now. One call at a time.
   */
  advance(ms: number): Promise<void>
  /**
   * Fires the next timer alone, at its moment, and lets every promise job run after it: quicker than `advance`, for when no
   * promise job is left to run and nothing waits for a turn of the event loop.
   */
  step(): Promise<void>
  /** The machine sleeps: `ms` pass and nothing fires. What fell due meanwhile fires late, at the next advance. */
  suspend(ms: number): void
  /** Somebody sets the wall clock; the monotonic one and the timers do not notice. */
  shiftWall(ms: number): void
  /** Timers that are set and have not fired. */
  readonly pending: number
  /** How long until the next timer falls due (0 when it is late already), undefined when there is none. */
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

/** A class for its getters: V8 takes those of an object literal for long-lived, and with them all that they see: the night. */
class Queue {
  now = 0
  /** By due time, then by order, the next one last: taking from the end is quick. */
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

/** The first place whose timer does not fire after this one; ten thousand timers are ordinary, so by halving. */
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

/** A turn of the event loop begins only when no promise job is left, however long their chain is. */
function runPromiseJobs(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The same without a turn of the loop, which costs two system calls: Node looks at its ticks when no promise job is left. */
function drainPromiseJobs(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}
