// One life of the client's process. It can die at any call of any port. From then on no promise of its ports settles
// and none of its timers fires, so that nothing it still does has an effect, as after SIGKILL.

import type { Clock } from '../../../src/core/ports.ts'
import type { SimulatedClock } from '../../helpers/simulated-clock.ts'

/** An end for one wait at a time, which is cheaper than a listener on a signal for each wait. */
export interface End {
  reason: Error | undefined
  leave: ((reason: Error) => void) | undefined
}

export interface Life {
  readonly number: number
  readonly clock: Clock
  isDead(): boolean
  /** Called when a call of a port is about to begin or end. The life may die here; true if it is dead. */
  dies(): boolean
  /** Settles after `ms` unless the life has died. Rejects with the reason of an end that comes first. */
  pass(ms: number, end?: End): Promise<void>
  /** Dies now. */
  kill(): void
  onDeath(act: () => void): void
  /** Settles when the life dies. */
  readonly death: Promise<void>
  /** The number of the program's timers that are set. */
  timerCount(): number
  /** How often one of its timers has fired. */
  stepCount(): number
}

/** What a dead process waits for: a promise that never settles. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined)
}

export function createLife(number: number, world: SimulatedClock, diesAtCall: number | undefined): Life {
  const timers = new Set<unknown>()
  const deathActs: (() => void)[] = []
  let calls = 0
  let steps = 0
  let isDead = false
  let settleDeath = (): void => undefined
  const death = new Promise<void>((resolve) => (settleDeath = resolve))

  const die = (): void => {
    isDead = true
    for (const timer of timers) world.clearTimeout(timer)
    timers.clear()
    for (const act of deathActs) act()
    settleDeath()
  }
  const clock: Clock = {
    wallNow: world.wallNow,
    monotonicNow: world.monotonicNow,
    setTimeout(callback, delayMs) {
      if (isDead) return undefined
      const timer = world.setTimeout(() => {
        timers.delete(timer)
        steps += 1
        if (!isDead) callback()
      }, delayMs)
      timers.add(timer)
      return timer
    },
    clearTimeout(timer) {
      if (timers.delete(timer)) world.clearTimeout(timer)
    },
  }
  return {
    number,
    clock,
    death,
    kill: die,
    isDead: () => isDead,
    dies() {
      calls += 1
      if (!isDead && calls === diesAtCall) die()
      return isDead
    },
    pass(ms, end) {
      if (isDead) return never()
      if (end?.reason !== undefined) return Promise.reject(end.reason)
      if (ms <= 0) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const timer = world.setTimeout(() => {
          if (end !== undefined) end.leave = undefined
          steps += 1
          if (!isDead) resolve()
        }, ms)
        if (end === undefined) return
        // Assigned by name: V8 treats a function literal that is assigned to a property as long-lived, with everything that it can reach.
        const leave = (reason: Error): void => {
          world.clearTimeout(timer)
          if (!isDead) reject(reason)
        }
        end.leave = leave
      })
    },
    onDeath: (act) => void deathActs.push(act),
    timerCount: () => timers.size,
    stepCount: () => steps,
  }
}
