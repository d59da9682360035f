// The pool's places and connections, over wires that lead nowhere: who gets which, and that no place is lost or made.

import { EventEmitter, getEventListeners } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'

import { createDescriptors, type Descriptors } from '../../../../src/adapters/node/descriptors.ts'
import { createConnectionPool, type ConnectionPool } from '../../../../src/adapters/node/http/connection-pool.ts'
import type { Wire } from '../../../../src/adapters/node/http/wire.ts'
import { createSimulatedClock } from '../../../helpers/simulated-clock.ts'

const TARGET = new URL('http://127.0.0.1:9')
const NOTHING = Symbol('nothing came')

describe('a place in the pool', () => {
  it.each(['release', 'discard'] as const)('goes to who waits, and to one alone: %s', async (giveBack) => {
    const { pool, acquire } = setUp(1)
    const first = await acquire()
    const [second, third] = [acquire(), acquire()]

    pool[giveBack](first)
    pool[giveBack](first)
    expect(pool.takeReady(TARGET.origin)).toBeUndefined()

    const held = await second
    expect(held.isReused).toBe(giveBack === 'release')
    expect(first.wire.socket.destroyed).toBe(giveBack === 'discard')
    expect(await soon(third)).toBe(NOTHING)
    pool.discard(held)
    expect((await third).client).toBeDefined()
  })

  it('is waited for as what it is, so that the wait does not pass for one for the host', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { pool, acquire } = setUp(1)
      const first = await acquire()
      let told = 0
      const second = acquire({ onWait: () => void (told += 1) })
      await soon(second)
      expect(told).toBe(0)

      vi.advanceTimersByTime(60_000)
      expect(told).toBe(60)
      pool.release(first)
      await second

      // Time to connect counts from here.
      expect([told, vi.getTimerCount()]).toEqual([61, 0])
    } finally {
      vi.useRealTimers()
    }
  })

  it('comes back from a connection that could not be made', async () => {
    const { acquire, fail } = setUp(1)
    fail(new Error('ECONNREFUSED'))
    await expect(acquire()).rejects.toThrow('ECONNREFUSED')
    fail(undefined)

    expect(await soon(acquire())).not.toBe(NOTHING)
  })

  it('is not kept for who left', async () => {
    const { pool, acquire } = setUp(1)
    const first = await acquire()
    const leaving = new AbortController()
    const left = acquire({ signal: leaving.signal })
    const next = acquire()
    leaving.abort(new Error('paused'))
    await expect(left).rejects.toThrow('paused')

    pool.release(first)

    expect(await soon(next)).not.toBe(NOTHING)
  })

  it('is waited for no longer once the pool closes, and there is none afterwards', async () => {
    const { pool, acquire } = setUp(1)
    const held = await acquire()
    const waiting = acquire()

    await pool.close()
    await pool.close()

    await expect(waiting).rejects.toThrow('closed')
    await expect(acquire()).rejects.toThrow('closed')
    pool.release(held)
    expect(pool.takeReady(TARGET.origin)).toBeUndefined()
  })

  it('is not taken by who has left already, nor by who found nothing at hand', async () => {
    const { pool, acquire } = setUp(2)
    const reason = new Error('paused')
    const { signal } = new AbortController()
    await acquire({ signal })
    for (let time = 0; time < 2; time += 1) expect(pool.takeReady(TARGET.origin)).toBeUndefined()
    await expect(acquire({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)

    expect(await soon(acquire())).not.toBe(NOTHING)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('is counted though others have come back', async () => {
    const { pool, acquire } = setUp(2)
    const [first] = [await acquire(), await acquire()]
    pool.discard(first)
    expect(await soon(acquire())).not.toBe(NOTHING)

    expect(await soon(acquire())).toBe(NOTHING)
  })

  it('is counted though the one before has come to its end only now', async () => {
    const { pool, acquire, wires } = setUp(1)
    const discarded = await acquire()
    pool.discard(discarded)
    await acquire()
    discarded.client.emit('disconnect', TARGET, [], new Error('the end') as never)

    expect(await soon(acquire())).toBe(NOTHING)
    await pool.close()
    expect(wires.map(({ socket }) => socket.destroyed)).toEqual([true, true])
  })

  it('is taken by a connection that is at hand, and there are no more than the limit', async () => {
    const { pool, acquire } = setUp(2)
    const [first, second] = [await acquire(), await acquire()]
    pool.release(first)
    pool.release(second)
    const third = pool.takeReady(TARGET.origin)
    const fresh = await acquire({ isFresh: true })

    expect(third?.isReused).toBe(true)
    expect(pool.takeReady(TARGET.origin)).toBeUndefined()
    expect(await soon(acquire())).toBe(NOTHING)
    expect(fresh.isReused).toBe(false)
  })
})

it('ends all that it has when it closes: what is idle, what is busy and what is just being made', async () => {
  const { pool, acquire, wires } = setUp(3)
  const idle = await acquire()
  await acquire()
  pool.release(idle)
  const making = acquire({ isFresh: true })

  await pool.close()

  await expect(making).rejects.toThrow('closed')
  expect(wires.map(({ socket }) => socket.destroyed)).toEqual([true, true, true])
})

describe('an idle connection', () => {
  it('is not handed out when it has ended in its sleep', async () => {
    const { pool, acquire } = setUp(2)
    const first = await acquire()
    pool.release(first)

    first.wire.reset()

    expect(pool.takeReady(TARGET.origin)).toBeUndefined()
  })

  it('makes room for a new one, the oldest first', async () => {
    const { pool, acquire, wires } = setUp(2)
    const [oldest, newest] = [await acquire(), await acquire()]
    pool.release(oldest)
    pool.release(newest)

    await acquire({ isFresh: true })

    expect(wires.map(({ socket }) => socket.destroyed)).toEqual([true, false, false])
  })

  it('stays where there is room beside it', async () => {
    const { pool, acquire, wires } = setUp(2)
    const [kept, ended] = [await acquire(), await acquire()]
    pool.release(kept)
    // It comes back when it has ended already, and takes no room.
    ended.wire.reset()
    pool.release(ended)

    await acquire({ isFresh: true })

    expect(wires.map(({ socket }) => socket.destroyed)).toEqual([false, true, false])
    expect(pool.takeReady(TARGET.origin)?.client).toBe(kept.client)
  })

  it('is let go of when it ends, and no other one', async () => {
    const { pool, acquire, wires } = setUp(3)
    const [busy, idle, ending] = [await acquire(), await acquire(), await acquire()]
    pool.release(idle)
    pool.release(ending)
    for (const { client } of [busy, ending]) client.emit('disconnect', TARGET, [], new Error('the end') as never)

    expect(wires.map(({ socket }) => socket.destroyed)).toEqual([false, false, true])
    expect(pool.takeReady(TARGET.origin)?.client).toBe(idle.client)
  })
})

describe('where this process may have one connection open', () => {
  it('an idle one gives way to one that is wanted, even of another host', async () => {
    const { pool, acquire, wires } = setUp(2, 1)
    pool.release(await acquire({ target: new URL('http://other.example') }))

    await acquire()

    expect(wires.map(({ socket }) => socket.destroyed)).toEqual([true, false])
  })

  it.each(['release', 'discard'] as const)(
    'a file of the journal goes before a part that could use an idle one: %s',
    async (giveBack) => {
      const { pool, acquire, descriptors, wires } = setUp(3, 1)
      const first = await acquire()
      const opening = Promise.resolve(descriptors.patiently('journal', async () => refuseIfFull(wires, 1)))
      const second = acquire()
      expect(await soon(opening)).toBe(NOTHING)

      pool[giveBack](first)

      expect(await soon(opening)).toBe('open')
      expect(await soon(second)).toMatchObject({ isReused: false })
    },
  )

  it.each(['idle', 'busy'] as const)('an Uplink that has it, %s, does not keep it from another', async (state) => {
    const one = setUp(3, 1)
    const other = setUp(3, 1, one)
    const first = await one.acquire()
    if (state === 'idle') one.pool.release(first)

    const wanted = other.acquire()
    if (state === 'busy') {
      expect(await soon(wanted)).toBe(NOTHING)
      one.pool.release(first)
      expect(one.pool.takeReady(TARGET.origin)).toBeUndefined()
    }

    expect(await soon(wanted)).toMatchObject({ isReused: false })
    expect(first.wire.socket.destroyed).toBe(true)
  })

  it('an idle one gives way to a file, but not the last one, which the part of that file will want', async () => {
    const { pool, acquire, descriptors, wires } = setUp(3, 2)
    const openFile = async (mostOpen: number) => descriptors.patiently('file', () => refuseIfFull(wires, mostOpen))
    for (const connection of [await acquire(), await acquire()]) pool.release(connection)

    expect(await soon(openFile(2))).toBe('open')
    expect(await soon(openFile(1))).toBe(NOTHING)
    expect(pool.takeReady(TARGET.origin)).toBeDefined()
  })

  it('whoever wants another waits for the end of that one, or takes it', async () => {
    const { pool, acquire } = setUp(3, 1)
    const first = await acquire()
    const [second, third] = [acquire(), acquire({ isFresh: true })]
    expect(await soon(second)).toBe(NOTHING)

    pool.release(first)

    expect((await second).client).toBe(first.client)
    expect(await soon(third)).toBe(NOTHING)
    pool.discard(await second)
    expect((await third).isReused).toBe(false)
  })
})

/** `shared`: what another pool of the same process was set up with. */
function setUp(
  maxConnectionsPerHost: number,
  mostOpen = Infinity,
  shared: { readonly wires: Wire[]; readonly descriptors: Descriptors } = {
    wires: [],
    descriptors: createDescriptors(createSimulatedClock()),
  },
) {
  const { wires, descriptors } = shared
  let failure: Error | undefined
  const connect = (): Promise<Wire> => {
    if (failure !== undefined) return Promise.reject(failure)
    return Promise.resolve().then(() => {
      refuseIfFull(wires, mostOpen)
      const wire = wireToNowhere()
      wires.push(wire)
      return wire
    })
  }
  const pool = createConnectionPool({ connect, descriptors, maxConnectionsPerHost, keepAliveMs: 1_000 })
  const acquire = ({
    target = TARGET,
    isFresh = false,
    signal = new AbortController().signal,
    onWait,
  }: Partial<Parameters<ConnectionPool['acquire']>[1]> & { readonly target?: URL } = {}) =>
    pool.acquire(target, { isFresh, signal, use: 'call', onWait })
  return { pool, acquire, descriptors, wires, fail: (error: Error | undefined) => void (failure = error) }
}

/** What the system does that has so many descriptors. */
function refuseIfFull(wires: readonly Wire[], mostOpen: number): 'open' {
  if (wires.filter(({ socket }) => !socket.destroyed).length < mostOpen) return 'open'
  throw Object.assign(new Error('none left'), { code: 'EMFILE' })
}

function wireToNowhere(): Wire {
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  return {
    socket: socket as unknown as Socket,
    begin: () => undefined,
    reset: () => {
      socket.destroyed = true
      process.nextTick(() => socket.emit('close'))
    },
    hasUnsentBytes: () => false,
    whenFlushed: () => false,
  }
}

/** What a promise settles with before anything else can happen; NOTHING when it does not. */
async function soon<T>(promise: Promise<T>): Promise<T | typeof NOTHING> {
  promise.catch(() => undefined)
  return Promise.race([promise, new Promise<typeof NOTHING>((resolve) => setImmediate(() => resolve(NOTHING)))])
}
