// The open connections of each origin: a bounded number, each used for one request at a time. The most recently used
// idle connection goes first.

import type Client from 'undici/lib/dispatcher/client.js'
import { onAbort } from '../../../core/on-abort.ts'
import type { Descriptors, DescriptorUse } from '../descriptors.ts'
import type { Connector } from './connector.ts'
import { clientOf } from './one-socket-client.ts'
import type { Wire } from './wire.ts'

/** One connection, held by one request. */
export interface Connection {
  readonly client: Client
  readonly wire: Wire
  /** Where it leads. */
  readonly origin: Origin
  /** True if an earlier request has used it. */
  readonly isReused: boolean
}

/** What the pool needs. */
export interface ConnectionPoolOptions {
  readonly connect: Connector
  /** Those that connections share with all that this process has open. */
  readonly descriptors: Descriptors
  /** The most connections per origin, idle ones included. */
  readonly maxConnectionsPerHost: number
  /** How long an idle connection is kept, ms. A shorter time that the server names is honoured. */
  readonly keepAliveMs: number
}

/** Hands out connections. Whoever acquires one gives it back with exactly one of `release` and `discard`. */
export interface ConnectionPool {
  /** The usual case, which costs nothing: takes an idle connection if a place is free. Undefined: use `acquire`. */
  takeReady(origin: string): Connection | undefined
  /**
   * Waits for a place if need be. Rejects with the signal's reason when aborted, and with Node's error if no connection
   * could be made.
   */
  acquire(target: URL, want: Wanted): Promise<Connection>
  /** Its request is complete, so another may use it. */
  release(connection: Connection): void
  /** Resets the connection, unless it has ended already. */
  discard(connection: Connection): void
  /** Closes idle connections and resets busy ones. Idempotent. Nothing can be acquired afterwards. */
  close(): Promise<void>
}

export interface Wanted {
  readonly isFresh: boolean
  readonly signal: AbortSignal
  readonly use: Extract<DescriptorUse, 'call' | 'part'>
  /** Called at least once a second while all places are taken, or this process has too much open to connect. */
  readonly onWait?: (() => void) | undefined
}

interface Origin {
  readonly key: string
  readonly idle: Connection[]
  readonly busy: Set<Connection>
  /** Places taken, by busy connections and by those being made. */
  taken: number
  readonly waiting: Set<() => void>
}

/** How often who waits for a place is told that it still does, ms. */
const TELL_EVERY_MS = 1_000

/** Makes an empty pool. */
export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { connect, descriptors, maxConnectionsPerHost } = options
  const origins = new Map<string, Origin>()
  // One controller for each acquisition and not AbortSignal.any: Node 20 keeps what that makes as long as its sources
  // live.
  const acquiring = new Set<AbortController>()
  let isClosed = false

  const give = (origin: Origin) => {
    const [next] = origin.waiting
    if (next) {
      origin.waiting.delete(next)
      next()
      return
    }
    origin.taken -= 1
    forget(origin)
  }
  /** Whoever waits has a place or is about to get one, so if none is taken, nobody waits. */
  const forget = (origin: Origin) => {
    if (origin.taken === 0 && origin.idle.length === 0) origins.delete(origin.key)
  }
  const end = (connection: Connection): Promise<unknown> => {
    connection.wire.reset()
    return connection.client.destroy()
  }
  /** Returns whether it was idle. */
  const dropIdle = (origin: Origin, client: Client): boolean => {
    const at = origin.idle.findIndex((connection) => connection.client === client)
    // A discarded connection ends a moment later, when another origin object may be stored under this key.
    if (at < 0) return false
    for (const connection of origin.idle.splice(at, 1)) void end(connection)
    forget(origin)
    return true
  }
  const open = async (origin: Origin, target: URL, signal: AbortSignal): Promise<Connection> => {
    const [oldest] = origin.idle
    if (oldest && origin.idle.length + origin.taken > maxConnectionsPerHost) dropIdle(origin, oldest.client)
    const wire = await connect(target, signal)
    if (isClosed) {
      // It was ready just before, so closing did not find it.
      wire.reset()
      throw closedError()
    }
    const client = clientOf(wire, target, options.keepAliveMs)
    wire.socket.once(
      'close',
      descriptors.opened('connection', () => dropIdle(origin, client)),
    )
    client.once('disconnect', () => dropIdle(origin, client))
    const connection = { client, wire, origin, isReused: false }
    origin.busy.add(connection)
    return connection
  }

  return {
    takeReady: (name) => {
      const origin = origins.get(name)
      if (origin === undefined || origin.taken >= maxConnectionsPerHost) return undefined
      const ready = takeIdle(origin)
      if (ready !== undefined) origin.taken += 1
      return ready
    },
    acquire: async (target, { isFresh, signal, use, onWait }) => {
      signal.throwIfAborted()
      if (isClosed) throw closedError()
      const origin = originOf(origins, target)
      const either = new AbortController()
      const leave = onAbort(signal, () => either.abort(signal.reason))
      acquiring.add(either)
      try {
        await takePlace(origin, maxConnectionsPerHost, either.signal, onWait)
        try {
          const find = (): Connection | Promise<Connection> =>
            (isFresh ? undefined : takeIdle(origin)) ?? open(origin, target, either.signal)
          return await descriptors.patiently(use, find, { signal: either.signal, onWait, to: origin })
        } catch (error) {
          give(origin)
          throw error
        }
      } finally {
        acquiring.delete(either)
        leave()
      }
    },
    release: (connection) => {
      const { origin } = connection
      if (!origin.busy.delete(connection)) return
      // A connection that has ended is not kept. Closing ends all of them.
      if (!connection.wire.socket.destroyed) {
        if (descriptors.idle(origin)) void end(connection)
        else origin.idle.push(connection.isReused ? connection : { ...connection, isReused: true })
      }
      give(origin)
    },
    discard: (connection) => {
      const { origin } = connection
      if (!origin.busy.delete(connection)) return
      void end(connection)
      give(origin)
    },
    close: async () => {
      isClosed = true
      for (const either of acquiring) either.abort(closedError())
      await Promise.all([...origins.values()].flatMap(({ idle, busy }) => [...idle, ...busy].map(end)))
    },
  }
}

function closedError(): Error {
  return Object.assign(new Error('The transport was closed'), { code: 'ERR_TRANSPORT_CLOSED' })
}

function originOf(origins: Map<string, Origin>, target: URL): Origin {
  const known = origins.get(target.origin)
  if (known) return known
  const origin: Origin = { key: target.origin, idle: [], busy: new Set(), taken: 0, waiting: new Set() }
  origins.set(target.origin, origin)
  return origin
}

/** A place that becomes free goes to whoever has waited longest. */
async function takePlace(
  origin: Origin,
  limit: number,
  signal: AbortSignal,
  onWait: (() => void) | undefined,
): Promise<void> {
  if (origin.taken < limit) {
    origin.taken += 1
    return
  }
  const timer = onWait && setInterval(onWait, TELL_EVERY_MS)
  try {
    await new Promise<void>((resolve, reject) => {
      // The place stays counted while it changes hands.
      const onTurn = () => {
        leave()
        resolve()
      }
      const leave = onAbort(signal, () => {
        origin.waiting.delete(onTurn)
        reject(signal.reason as Error)
      })
      origin.waiting.add(onTurn)
    })
    onWait?.()
  } finally {
    clearInterval(timer)
  }
}

function takeIdle(origin: Origin): Connection | undefined {
  for (let kept = origin.idle.pop(); kept; kept = origin.idle.pop()) {
    if (kept.wire.socket.destroyed) continue
    origin.busy.add(kept)
    return kept
  }
  return undefined
}
