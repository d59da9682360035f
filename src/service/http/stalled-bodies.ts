// Closes the connection of a call whose body stalls or trickles or whose answer is not read: its client may have vanished silently,
// and nothing else would end it.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

import type { ServiceSettings } from '../settings.ts'
import { bodyPace } from './body-pace.ts'

/** How long a body may bring nothing, and how much it must bring on average. */
type Patience = Pick<ServiceSettings, 'bodyIdleMs' | 'leastBytesPerSecond'>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route passes the body on as it comes and watches it itself. */
    readonly watchesBody?: boolean
  }
}

/** Watches the body of every call until it is complete, also that of one who is refused. */
export function endStalledBodies(app: FastifyInstance, patience: Patience): void {
  app.addHook('onRequest', ({ raw, routeOptions }, _reply, done) => {
    if (bringsBody(raw) && routeOptions.config.watchesBody !== true) endIfStalled(raw, patience)
    done()
  })
}

/** Whether a body follows the head, which is all that has been read by now. */
function bringsBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Ends the connection when nothing arrives for `bodyIdleMs` to twice as long, or too little, until the body is complete. */
export function endIfStalled(raw: IncomingMessage, { bodyIdleMs, leastBytesPerSecond }: Patience): void {
  // Once its answer is out, a request no longer learns that its connection closed, so the socket is watched too.
  const { socket } = raw
  let seenBytes = socket.bytesRead
  const pace = bodyPace(leastBytesPerSecond)
  const timer = setInterval(() => {
    const came = socket.bytesRead - seenBytes
    seenBytes += came
    // A client that left before the watch began has closed its socket without our hearing it.
    if (raw.complete || socket.destroyed) end()
    else if (came === 0 || !pace.keepsUp(came)) raw.destroy()
  }, bodyIdleMs)
  const end = (): void => {
    clearInterval(timer)
    raw.off('close', end)
    socket.off('close', end)
  }
  raw.once('close', end)
  socket.once('close', end)
}

/** Ends the connection of an answer that the client does not read for `idleMs`. Install it after everything that delays answers. */
export function endUntakenAnswers(app: FastifyInstance, idleMs: number): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    // Once the answer is out, Node replaces this timeout with its own for idle connections.
    reply.raw.setTimeout(idleMs)
    done(null, payload)
  })
}
