// Places for requests to one host, shared by all tabs of an origin: a browser opens six connections to an HTTP/1 host
// and queues the rest unseen, where nobody can tell a request that waits from one that hangs.

import { hostOf } from '../../core/address/address.ts'
import { onAbort } from '../../core/on-abort.ts'
import type { Transport } from '../../core/ports.ts'
import { sendThrough } from '../../core/send-through.ts'
import { isSeen } from '../web/is-seen.ts'

/** One of the six connections stays free for the calls of the page itself. */
export const PLACES_PER_HOST = 5

/** How long a tab goes on with a place, request after request, before other tabs are asked whether they want it. */
const KEPT_MS = 1_000

/**
 * The same transport, with at most 5 requests under way to a host in all tabs of this origin. A place is a Web Lock, so
 * that of a tab that dies is free again. Without Web Locks (a page that is not secure) it is the transport as it is: only the
 * Uplink's `concurrency` counts then.
 */
export function sharingHosts(transport: Transport, locks: LockManager | undefined = platformLocks()): Transport {
  if (!locks) return transport
  const hosts = new Map<string, Waiting>()
  return sendThrough(transport, {
    hasQueue: true,
    async send(request, forward) {
      const host = hostOf(request.url)
      const inPlace = hosts.get(host) ?? createPlaces(locks, host)
      hosts.set(host, inPlace)
      return inPlace(request.signal, async () => {
        request.onStarted?.()
        return forward(request)
      })
    },
  })
}

/**
 * Undefined in pages that are not secure, and in those that may keep nothing, where locks are refused: a frame without an origin, a
 * browser that is told to keep nothing of this site.
 */
export function platformLocks(): LockManager | undefined {
  try {
    // In those it throws. It is compared with what it never is, so that no bundler leaves it out.
    return typeof globalThis.localStorage === 'function' ? undefined : navigator.locks
  } catch {
    return undefined
  }
}

/** Runs the work in the next place that is free. Rejects as it does, or with the signal's reason while it waits. */
type Waiting = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/**
 * The places at one host. Asking the browser's lock manager for every request costs as much as a small one, so a place goes
 * from one request of this tab to the next.
 */
function createPlaces(locks: LockManager, host: string): Waiting {
  const waiting = new Map<() => Promise<unknown>, (error: Error) => void>()
  /** Places that are held, or asked for. */
  const asked = new Set<number>()
  /** Held, and without a request: each goes on when it is called. */
  const idle = new Set<() => void>()

  const hold = async (): Promise<void> => {
    const untilMs = performance.now() + KEPT_MS
    do {
      const [work] = waiting.keys()
      if (!work) return
      waiting.delete(work)
      await work().catch(() => undefined)
      // In a hidden page a timer is held back for up to a minute, and this place would keep other tabs waiting.
      if (waiting.size === 0 && isSeen()) await nextRequest()
    } while (performance.now() < untilMs)
  }
  /** What follows an answer mostly comes within the same task of the page; later than that there may be nothing. */
  const nextRequest = (): Promise<void> =>
    new Promise((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer)
        idle.delete(goOn)
        resolve()
      }
      const timer = setTimeout(goOn)
      idle.add(goOn)
    })
  const fail = (error: Error): void => {
    for (const reject of waiting.values()) reject(error)
    waiting.clear()
  }
  const ask = (): void => {
    for (let index = 0; index < PLACES_PER_HOST && waiting.size > 0; index += 1) {
      if (asked.has(index)) continue
      asked.add(index)
      const given = locks.request(`mocap-uplink place ${index} ${host}`, hold).catch(fail)
      void given.then(() => {
        asked.delete(index)
        // Behind the other tabs that wait for it.
        ask()
      })
    }
  }
  return (signal, work) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const leave = onAbort(signal, () => {
        waiting.delete(start)
        reject(signal.reason as Error)
      })
      const start = (): Promise<unknown> => {
        leave()
        const working = work()
        resolve(working)
        return working
      }
      waiting.set(start, reject)
      const [goOn = ask] = idle
      goOn()
    })
}
