// The pool of windows: reused pieces of memory through which every body passes. The budget is the bound on memory: an attempt
// gets its windows before it reads its first byte and gives them back when its last byte has left. Windows are handed out first
// come, first served, and all windows of an attempt at once, so that two attempts never wait for each other.

import { UploadError } from '../errors.ts'
import { onAbort } from '../on-abort.ts'

/** Windows for one attempt. */
export interface WindowLease {
  readonly windows: readonly Uint8Array[]
  /** Gives them back. Called once. */
  release(): void
  /**
   * Called at most once, before `release`: whoever uses them was told to end and does not, so nobody waits for them any more.
   * Absent: nobody ever waits for these.
   */
  readonly leave?: (() => void) | undefined
}

export interface WindowPool {
  /** Bytes of a window that is not large. */
  readonly windowBytes: number
  /**
   * Leases the windows of a body: one if it fits into one, else two, so that reading overlaps sending. A body of at least 16
   * windows gets two large ones, while there are any. Waits when the budget is used up; rejects with the signal's reason. Throws
   * or rejects with ERR_UPLOAD_SOURCE_READ when what was left holds so much that there may never be room.
   */
  lease(bodyBytes: number, signal: AbortSignal): WindowLease | Promise<WindowLease>
  /** Bytes handed out now, without those that were left, for tests and diagnostics. */
  leasedBytes(): number
}

export interface WindowPoolOptions {
  /** The bound on memory held by bodies, bytes. At least two windows. */
  readonly budgetBytes: number
  /** Size of one window, bytes: 64 KiB to 2 MiB is sensible. */
  readonly windowBytes: number
  /**
   * Pairs of large windows, each eight times as long as the others, taken from the budget. With them, filling a few connections
   * costs less. Default 0.
   */
  readonly largePairs?: number
  /** Allocates memory; a host that hashes on workers gives shared memory. Default: plain memory. */
  readonly allocate?: ((bytes: number) => Uint8Array) | undefined
}

/** Two large windows take as much memory as this many others. */
export const LARGE_PAIR = 16

interface Waiter {
  readonly count: number
  grant(): void
}

export function createWindowPool(options: WindowPoolOptions): WindowPool {
  const { windowBytes, largePairs = 0, allocate = (bytes: number) => new Uint8Array(bytes) } = options
  /** How many windows there may be, without those of attempts that were left. */
  let capacity = Math.max(2, Math.floor(options.budgetBytes / windowBytes) - LARGE_PAIR * largePairs)
  const free: Uint8Array[] = []
  const freeLarge: Uint8Array[] = []
  const waiters: Waiter[] = []
  let leased = 0
  let leasedLarge = 0

  const lend = (
    from: Uint8Array[],
    count: number,
    bytes: number,
    onBack: () => void,
    leave?: () => void,
  ): WindowLease => {
    const windows: Uint8Array[] = []
    while (windows.length < count) windows.push(from.pop() ?? allocate(bytes))
    const release = (): void => {
      from.push(...windows)
      onBack()
    }
    return { windows, release, leave }
  }
  const isServed = (count: number): boolean => leased + count <= capacity || count > capacity
  const change = (leasedBy: number, capacityBy: number): void => {
    leased += leasedBy
    capacity += capacityBy
    serve()
  }
  const handOut = (count: number): WindowLease => {
    if (count > capacity) {
      const message = 'Hanging reads hold all memory: restart the program.'
      throw new UploadError('ERR_UPLOAD_SOURCE_READ', message)
    }
    let left = 0
    const lease = lend(
      free,
      count,
      windowBytes,
      () => change(left - count, left),
      () => {
        left = count
        change(-count, -count)
      },
    )
    leased += count
    return lease
  }
  const serve = (): void => {
    for (let first = waiters[0]; first && isServed(first.count); first = waiters[0]) {
      waiters.shift()
      first.grant()
    }
  }

  return {
    windowBytes,
    lease(bodyBytes, signal) {
      const count = bodyBytes <= windowBytes ? 1 : 2
      if (signal.aborted) return Promise.reject(signal.reason as Error)
      if (bodyBytes >= LARGE_PAIR * windowBytes && leasedLarge < largePairs) {
        const lease = lend(freeLarge, 2, (LARGE_PAIR / 2) * windowBytes, () => (leasedLarge -= 1))
        leasedLarge += 1
        return lease
      }
      if (waiters.length === 0 && isServed(count)) return handOut(count)
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
            // Memory that cannot be had is told to who waits for it, not to who gave its own back.
            resolve(new Promise((done) => done(handOut(count))))
          },
        }
        waiters.push(waiter)
      })
    },
    leasedBytes: () => (leased + LARGE_PAIR * leasedLarge) * windowBytes,
  }
}
