// Places for requests to one host, shared by all tabs of an origin: a browser opens six connections to an HTTP/1 host
// and queues the rest unseen, where nobody can tell a request that waits from one that hangs.

import type { Transport } from '../../core/ports.ts'
import { hostOf } from '../web/target-host.ts'

/** One of the six connections stays free for the calls of the page itself. */
export const PLACES_PER_HOST = 5

/**
 * The same transport, with at most 5 requests under way to a host in all tabs of this origin. A place is a Web Lock, so
 * that of a tab that dies is free again. Without Web Locks (a page that is not secure) it is the transport as it is: only the
 * Uplink's `concurrency` counts then.
 */
export function sharingHosts(transport: Transport, locks: LockManager | undefined = platformLocks()): Transport {
  if (locks === undefined) return transport
  const acquire = placesOfAllTabs(locks)
  return {
    ...transport,
    hasQueue: true,
    async send(request) {
      const release = await acquire(hostOf(request.url), request.signal)
      try {
        request.onStarted?.()
        return await transport.send(request)
      } finally {
        release()
      }
    },
  }
}

/** Undefined in pages that are not secure. */
export function platformLocks(): LockManager | undefined {
  return (globalThis.navigator as Partial<Navigator> | undefined)?.locks
}

type Acquire = (host: string, signal: AbortSignal) => Promise<() => void>

/**
 * A tab takes the place again that it gave back last, by one question to the browser's lock manager: it is free unless
 * another tab waits for it, which then has it already. Else it asks for all of them and keeps the first that is given.
 */
function placesOfAllTabs(locks: LockManager): Acquire {
  const givenBack = new Map<string, string[]>()
  return async (host, signal) => {
    const own = givenBack.get(host) ?? []
    givenBack.set(host, own)
    const last = own.pop()
    const place =
      (last === undefined ? undefined : await placeIfFree(locks, last)) ?? (await anyPlace(locks, host, signal))
    return () => {
      place.release()
      own.push(place.name)
    }
  }
}

interface Place {
  readonly name: string
  release(): void
}

function placeIfFree(locks: LockManager, name: string): Promise<Place | undefined> {
  return new Promise((resolve, reject) => {
    locks
      .request(name, { ifAvailable: true }, (lock) => (lock === null ? resolve(undefined) : held(name, resolve)))
      .catch(reject)
  })
}

function anyPlace(locks: LockManager, host: string, signal: AbortSignal): Promise<Place> {
  return new Promise((resolve, reject) => {
    let isTaken = false
    const others = new AbortController()
    signal.throwIfAborted()
    const leave = (): void => others.abort(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    for (let index = 0; index < PLACES_PER_HOST; index += 1) {
      const name = `mocap-uplink place ${index} ${host}`
      const take = (): Promise<void> | undefined => {
        if (isTaken || signal.aborted) return undefined
        isTaken = true
        signal.removeEventListener('abort', leave)
        others.abort()
        return held(name, resolve)
      }
      // Aborted, they reject with the reason; those that are given up do so when all is settled already.
      locks.request(name, { signal: others.signal }, take).catch(reject)
    }
  })
}

/** Settles when the place is given back. */
function held(name: string, give: (place: Place) => void): Promise<void> {
  return new Promise((release) => give({ name, release }))
}
