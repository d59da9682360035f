// Places for requests to one host, shared by all tabs of an origin. A browser opens six connections to an HTTP/1 host
// and queues further requests unseen, so that nobody can tell one that waits from one that hangs.

import { hostOf } from '../../core/address/address.ts'
import { onAbort } from '../../core/on-abort.ts'
import type { Transport } from '../../core/ports.ts'
import { sendThrough } from '../../core/send-through.ts'
import { isSeen } from '../web/is-seen.ts'

/** One of the six connections stays free for the calls of the page itself. */
export const PLACES_PER_HOST = 5

/** How long a tab keeps a place, request after request, before other tabs get a chance, ms. */
const KEPT_MS = 1_000

/**
 * Makes the same transport, with at most 5 requests under way to a host from all tabs of this origin together. A place
 * is a Web Lock, so the place of a tab that dies becomes free. Without Web Locks (in a page that is not secure) the
 * transport is returned as it is, and only the Uplink's `concurrency` limits requests. Where they are refused, as in a
 * worker of a page that may store nothing, this tab keeps to its own places.
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
 * The platform's Web Locks. Undefined in pages that are not secure, and in those that may store nothing, where locks
 * are refused: a frame without an origin, or a browser that is told to store nothing for this site.
 */
export function platformLocks(): LockManager | undefined {
  try {
    // In the latter, reading localStorage throws. It is compared with what it never is, so that no bundler removes the
    // read.
    return typeof globalThis.localStorage === 'function' ? undefined : navigator.locks
  } catch {
    return undefined
  }
}

/** Runs the work in the next free place. Rejects as the work does, or with the signal's reason while it waits. */
type Waiting = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/**
 * The places at one host. A request to the browser's lock manager costs as much as a small upload, so a place is passed
 * on from one request of this tab to the next.
 */
function createPlaces(locks: LockManager, host: string): Waiting {
  const waiting = new Set<() => Promise<unknown>>()
  /** Indexes of the places that are held or asked for. */
  const asked = new Set<number>()
  /** Places held without a request. Each goes on when it is called. */
  const idle = new Set<() => void>()

  const hold = async (): Promise<void> => {
    const untilMs = performance.now() + KEPT_MS
    do {
      const [work] = waiting
      if (!work) return
      waiting.delete(work)
      await work().catch(() => undefined)
      // A hidden page's timers are held back for up to a minute, so an idle place there would keep other tabs waiting.
      if (waiting.size === 0 && isSeen()) await nextRequest()
    } while (performance.now() < untilMs)
  }
  /**
   * Waits for the request that may follow an answer. It mostly comes within the same task of the page; if it has not
   * come by the next one, there may be none.
   */
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
  const ask = (): void => {
    for (let index = 0; index < PLACES_PER_HOST && waiting.size > 0; index += 1) {
      if (asked.has(index)) continue
      asked.add(index)
      const given = locks.request(`mocap-uplink place ${index} ${host}`, hold).catch(hold)
      void given.then(() => {
        asked.delete(index)
        // Asks anew, behind other tabs that wait for the place.
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
      waiting.add(start)
      const [goOn = ask] = idle
      goOn()
    })
}
