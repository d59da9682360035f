// The ports of an Uplink in which every wait is a task of fast-check's scheduler. It alone decides when a connection is
// made, a window is gone, a reply arrives, and a read, a hash or a journal write is done. Time stands still.

import { AsyncResource } from 'node:async_hooks'
import type fc from 'fast-check'

import type { Clock, Hasher, Journal, Transport, TransportRequest } from '../../../src/core/ports.ts'
import type { SimulatedClock } from '../../helpers/simulated-clock.ts'
import { createDigest } from '../../simulation/whole/digest.ts'
import { createLife, type End, type Life } from '../../simulation/whole/life.ts'

/** Settles when the scheduler says so. An end that comes first rejects, which also takes a turn. */
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

/** Makes lives for kinds of ports. The waits of each are turns under its name. */
export function scheduledLife(clock: SimulatedClock, turn: Turn): { life: Life; of(what: string): Life } {
  const unbound = createLife(1, clock, undefined)
  // A real timer fires in the async context of its caller. A simulated one would fire in that of whoever advances the time.
  const setTimeout: Clock['setTimeout'] = (callback, delayMs) =>
    unbound.clock.setTimeout(AsyncResource.bind(callback), delayMs)
  const life: Life = { ...unbound, clock: { ...unbound.clock, setTimeout } }
  return { life, of: (what) => ({ ...life, pass: (_, end) => turn(what, end) }) }
}

/** Adds a turn between the far end's work and the arrival of its answer, in which an abort still wins. */
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

/** Appends are carried out in order, but their completions are reported in any order. */
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

/** Reads a window when its turn comes, like a thread that shares the memory. */
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
