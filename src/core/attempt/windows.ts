// The pool of windows: reused pieces of memory through which every body passes. The budget is the bound on memory: an
// attempt gets its windows before it reads its first byte and gives them back when its last byte has left. Handing out
// is first come, first served, and all windows of an attempt at once, so that two attempts never wait for each other.

import { onAbort } from '../on-abort.ts'

/** Windows for one attempt; two lie side by side unless single ones were leased between. `release` gives them back, once. */
export interface WindowLease {
  readonly windows: readonly Uint8Array[]
  release(): void
}

export interface WindowPool {
  /** Of a window, unless it is a large one. */
  readonly windowBytes: number
  /**
   * Windows for a body: one when it fits into one, else two, so that reading overlaps sending. Waits when the budget is used
   * up; rejects with the signal's reason. `isQuick`: its bytes will be gone at once, so that both may be large, four times as long,
   * where half of the budget is free.
   */
  lease(bodyBytes: number, signal: AbortSignal, isQuick?: boolean): WindowLease | Promise<WindowLease>
  /** Bytes handed out now, for tests and diagnostics. */
  leasedBytes(): number
}

export interface WindowPoolOptions {
  /** The bound on memory held by bodies, bytes. At least two windows. */
  readonly budgetBytes: number
  /** Size of one window, bytes: 64 KiB to 2 MiB is sensible. */
  readonly windowBytes: number
  /** Makes memory; a host that hashes on workers gives shared memory. Default: plain. */
  readonly allocate?: (bytes: number) => Uint8Array
}

interface Waiter {
  readonly count: number
  grant(): void
}

/** Two large windows take as much as so many others. */
const LARGE_PAIR = 8

export function createWindowPool(options: WindowPoolOptions): WindowPool {
  const { windowBytes, allocate = (bytes: number) => new Uint8Array(bytes) } = options
  const capacity = Math.max(2, Math.floor(options.budgetBytes / windowBytes))
  const free: Uint8Array[] = []
  /** What two large ones lie in. */
  const large: Uint8Array[] = []
  const waiters: Waiter[] = []
  let made = 0
  let leased = 0

  const make = (count: number): Uint8Array => {
    made += count
    return allocate(count * windowBytes)
  }
  const divide = (memory: Uint8Array, bytes: number): void => {
    for (let at = 0; at < memory.byteLength; at += bytes) free.push(memory.subarray(at, at + bytes))
  }
  const handOut = (count: number): WindowLease => {
    leased += count
    let memory: Uint8Array | undefined
    if (count === LARGE_PAIR) {
      memory = large.pop() ?? make(count)
      divide(memory, memory.byteLength / 2)
    } else {
      const spare = made + count - free.length > capacity ? large.pop() : undefined
      if (spare !== undefined) divide(spare, windowBytes)
      // One that is left over from a pair is used up first.
      const missing = count - free.length
      if (missing > 0) divide(make(missing), windowBytes)
    }
    const windows = free.splice(memory === undefined ? -count : -2)
    let isReleased = false
    return {
      windows,
      release() {
        if (isReleased) return
        isReleased = true
        leased -= count
        if (memory === undefined) free.push(...windows)
        else large.push(memory)
        serve()
      },
    }
  }
  const serve = (): void => {
    for (let first = waiters[0]; first !== undefined && leased + first.count <= capacity; first = waiters[0]) {
      waiters.shift()
      first.grant()
    }
  }
  const hasLargePair = (): boolean =>
    leased + LARGE_PAIR <= capacity / 2 && (large.length > 0 || made + LARGE_PAIR <= capacity)

  return {
    windowBytes,
    lease(bodyBytes, signal, isQuick = false) {
      const count = bodyBytes <= windowBytes ? 1 : 2
      if (signal.aborted) return Promise.reject(signal.reason as Error)
      if (waiters.length === 0 && leased + count <= capacity) {
        const isLarge = isQuick && bodyBytes >= LARGE_PAIR * windowBytes && hasLargePair()
        return handOut(isLarge ? LARGE_PAIR : count)
      }
      return new Promise((resolve, reject) => {
        const leave = onAbort(signal, () => {
          waiters.splice(waiters.indexOf(waiter), 1)
          reject(signal.reason as Error)
          serve()
        })
        const waiter: Waiter = {
          count,
          grant() {
            leave()
            resolve(handOut(count))
          },
        }
        waiters.push(waiter)
      })
    },
    leasedBytes: () => leased * windowBytes,
  }
}
