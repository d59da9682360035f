// The ports of an Uplink where every wait is a task of fast-check's scheduler: when a connection is made, a window has
// gone, a reply comes, a read, a hash or a journal write is done, is decided there and nowhere else. Time stands still.

import { AsyncResource } from 'node:async_hooks'
import type fc from 'fast-check'

import type { Clock, Hasher, Journal, Transport, TransportRequest } from '../../../src/core/ports.ts'
import type { SimulatedClock } from '../../helpers/simulated-clock.ts'
import { createDigest } from '../../simulation/whole/digest.ts'
import { createLife, type End, type Life } from '../../simulation/whole/life.ts'

/** Settles when the scheduler says so; an end that comes first rejects, and that takes its turn, too. */
export type Turn = (what: string, end?: End) => Promise<void>

export function turnsOf(scheduler: fc.Scheduler): Turn {
  const turn = (what: string): Promise<void> => scheduler.schedule(Promise.resolve(), what)
  return (what, end) => {
    if (end === undefined) return turn(what)
    if (end.reason !== undefined) return Promise.reject(end.reason)
    return new Promise((resolve, reject) => {
      end.leave = (reason) => void turn(`the end of ${what}`).then(() => reject(reason))
      void turn(what).then(resolve)
    })
  }
}

/** A life for one kind of port: its waits are turns under that name. */
export function scheduledLife(clock: SimulatedClock, turn: Turn): { life: Life; of(what: string): Life } {
  const unbound = createLife(1, clock, undefined)
  // A real timer fires in what its caller was doing; a simulated one would in what moves the time.
  const setTimeout: Clock['setTimeout'] = (callback, delayMs) =>
    unbound.clock.setTimeout(AsyncResource.bind(callback), delayMs)
  const life: Life = { ...unbound, clock: { ...unbound.clock, setTimeout } }
  return { life, of: (what) => ({ ...life, pass: (_, end) => turn(what, end) }) }
}

/** Between the far end's work and our hearing of it lies a turn, in which an abort still wins. */
export function scheduledReplies(inner: Transport, turn: Turn): Transport {
  return {
    ...inner,
    async send(request) {
      const reply = await inner.send(request)
      await turn('an answer on its way', endOf(request))
      return reply
    },
  }
}

function endOf({ signal }: TransportRequest): End {
  const end: End = { reason: signal.aborted ? (signal.reason as Error) : undefined, leave: undefined }
  const onAbort = (): void => {
    end.reason = signal.reason as Error
    end.leave?.(end.reason)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  return end
}

/** Appends are taken in order; that they are kept is heard in any. */
export function scheduledJournal(inner: Journal, turn: Turn): Journal {
  return {
    ...inner,
    async open(key) {
      await turn('a journal opens')
      const session = await inner.open(key)
      return {
        key: session.key,
        records: session.records,
        async append(records) {
          await session.append(records)
          await turn(`a journal has ${records.map(({ type }) => type).join(' ')}`)
        },
        async close() {
          await turn('a journal closes')
          await session.close()
        },
      }
    },
    async read(key) {
      await turn('a journal is read')
      return inner.read(key)
    },
  }
}

/** Looks at a window when its turn comes, as a thread does that shares the memory. */
export function scheduledHasher(turn: Turn): Hasher {
  return {
    start() {
      const digest = createDigest()
      return {
        async update(bytes) {
          await turn('a window is hashed')
          digest.update(bytes)
        },
        async digest() {
          await turn('a digest is ready')
          return digest.read()
        },
      }
    },
  }
}
