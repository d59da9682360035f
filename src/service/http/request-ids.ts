// Gives each request one id, in its log lines and its answer: the caller's own if it is harmless there, or a new one.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

const HEADER = 'x-request-id'

/** The id from `x-request-id` if it is 1 to 64 letters, digits, dots, dashes or underscores; else a UUID. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[HEADER]
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
}

/** Puts the id on every answer. */
export function echoRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(HEADER, request.id)
    done()
  })
}
