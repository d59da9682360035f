// One bound for the answers to calls, until their callers have taken them: an answer can be a hundred times as large as its call, and a
// caller may read it as slowly as he likes.

import type { FastifyInstance, FastifyReply } from 'fastify'

import { callerOf } from '../access/callers.ts'
import { createMemoryBound, UNCOUNTED_BYTES } from './memory-bound.ts'
import { Refusal } from './replies.ts'

/** How many of the largest answers the service holds at a time. */
const LARGEST_ANSWERS = 4
/** About what an address takes in an answer. One of a bucket takes 600, and with temporary keys 2,000: see docs/service.md. */
const ADDRESS_BYTES = 400
/** Beside what comes out of its body, the largest answer has the addresses of 100,000 parts. */
const MOST_ADDRESSES_BYTES = 100_000 * ADDRESS_BYTES

export interface AnswerMemory {
  /** Takes memory for an answer with so many addresses before they are made. Throws a Refusal (503) if there is none. */
  expectAddresses(reply: FastifyReply, count: number): void
  /** Counts all other answers once they are made. */
  attach(scope: FastifyInstance): void
}

/** Makes the bound of one service. `bodyBytes` limits the body of a call. */
export function createAnswerMemory(bodyBytes: number): AnswerMemory {
  const bound = createMemoryBound(LARGEST_ANSWERS * (MOST_ADDRESSES_BYTES + bodyBytes))
  const counted = new WeakSet<FastifyReply>()
  const take = (reply: FastifyReply, bytes: number): void => {
    const { raw, request } = reply
    // Its caller tries again, as with any answer that was lost.
    const held = bound.hold(callerOf(request).orgId, () => request.raw.socket.destroy())
    if (!held.add(bytes))
      throw new Refusal(503, 'unavailable', 'The service has no memory left for large answers. Try again.')
    counted.add(reply)
    // A caller that has left is not heard of again.
    if (raw.destroyed) held.end()
    else raw.once('close', () => held.end())
  }
  return {
    expectAddresses: (reply, count) => take(reply, count * ADDRESS_BYTES),
    attach(scope) {
      scope.addHook('onSend', (request, reply, payload, done) => {
        if (typeof payload !== 'string' || payload.length <= UNCOUNTED_BYTES) {
          done(null, payload)
          return
        }
        // Of a text, Node would keep a copy of up to three times its size beside it.
        const bytes = Buffer.from(payload)
        try {
          if (!counted.has(reply)) take(reply, bytes.length)
          done(null, bytes)
        } catch (error) {
          // Nobody may be told that nothing was done where something was.
          if (request.method !== 'GET') request.raw.socket.destroy()
          done(error as Refusal)
        }
      })
    },
  }
}
