// Reads the bodies of calls into memory, each up to its own limit and all of them up to a common one. What is refused is still
// discarded as it arrives, because a client that has not sent everything often does not see an answer before.

import type { FastifyInstance, FastifyRequest } from 'fastify'

import { callerOf } from '../access/callers.ts'
import { createMemoryBound, type HeldMemory } from './memory-bound.ts'
import { Refusal } from './replies.ts'

/** How many of the largest bodies the service holds at a time. */
const LARGEST_BODIES = 4

export interface CallBodies {
  /** Throws a Refusal if the head announces a body that is too large (413) or is not sent plainly (415). */
  check(request: FastifyRequest): void
  /**
   * Reads a body to its end. Rejects with a Refusal: 413 if it is too large, 503 if all bodies together are, 400 if it breaks off.
   * It counts until the answer is out or its client is gone.
   */
  read(request: FastifyRequest): Promise<Buffer>
  /** Installs what lets go of bodies whose call has ended. */
  attach(scope: FastifyInstance): void
}

/** Makes the reader of one service. `bodyBytes` limits one body. */
export function createCallBodies(bodyBytes: number): CallBodies {
  const memory = createMemoryBound(LARGEST_BODIES * bodyBytes)
  const held = new WeakMap<FastifyRequest, HeldMemory>()
  const tooLarge = () =>
    new Refusal(413, 'body_too_large', `The body is larger than ${bodyBytes} bytes.`, { limit: bodyBytes })
  return {
    check({ method, headers }) {
      if (Number(headers['content-length']) > bodyBytes) throw tooLarge()
      // Any other body means nothing, however it is packed.
      const isForUs = method === 'POST' || method === 'PATCH'
      if (isForUs && !/^(?:identity)?$/i.test(headers['content-encoding'] ?? ''))
        throw new Refusal(415, 'invalid_request', 'A body must be sent as it is, without Content-Encoding.')
    },
    attach(scope) {
      // Not onResponse: that never comes where the connection ends before the answer is out.
      scope.addHook('onRequest', (request, { raw }, done) => {
        raw.once('close', () => held.get(request)?.end())
        done()
      })
    },
    async read(request) {
      const { raw } = request
      // A client that left while its credential was looked up is not heard of again.
      if (raw.destroyed) throw brokenOff()
      return new Promise((resolve, reject) => {
        const pieces: Buffer[] = []
        let arrivedBytes = 0
        // The request outlives its body, so nothing that listens to it may keep the bytes.
        const letGo = (): Buffer[] => {
          raw.off('data', take).off('end', finish).off('error', breakOff).resume()
          return pieces.splice(0)
        }
        const stop = (refusal: Refusal): void => {
          letGo()
          body.end()
          reject(refusal)
        }
        const giveWay = (): void =>
          stop(new Refusal(503, 'unavailable', 'The service has no memory left for large bodies. Try again.'))
        const body = memory.hold(callerOf(request).orgId, giveWay)
        held.set(request, body)
        const take = (piece: Buffer): void => {
          arrivedBytes += piece.length
          if (arrivedBytes > bodyBytes) {
            stop(tooLarge())
            return
          }
          pieces.push(piece)
          if (!body.add(piece.length)) giveWay()
        }
        const finish = (): void => {
          body.keep()
          resolve(Buffer.concat(letGo()))
        }
        const breakOff = (): void => stop(brokenOff())
        raw.on('data', take).once('end', finish).once('error', breakOff)
      })
    },
  }
}

function brokenOff(): Refusal {
  return new Refusal(400, 'invalid_request', 'The request could not be read.')
}
