// Closes the connection of a call whose body stalls or whose answer is not read: its client may have vanished silently, and nothing
// else would end it.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route passes the body on as it comes and watches it itself. */
    readonly watchesBody?: boolean
  }
}

/** Watches the body of every call until it is complete. */
export function endStalledBodies(app: FastifyInstance, idleMs: number): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { raw, routeOptions } = request
    if (!raw.complete && routeOptions.config.watchesBody !== true) endIfStalled(raw, idleMs)
    done(null, payload)
  })
}

/** Ends the connection when nothing arrives for `idleMs` to twice as long, until the body is complete. */
export function endIfStalled(raw: IncomingMessage, idleMs: number): void {
  // Once its answer is out, a request no longer learns that its connection closed, so the socket is watched too.
  const { socket } = raw
  let seenBytes = socket.bytesRead
  const timer = setInterval(() => {
    const { bytesRead } = socket
    // A client that left before the watch began has closed its socket without our hearing it.
    if (raw.complete || socket.destroyed) end()
    else if (bytesRead === seenBytes) raw.destroy()
    seenBytes = bytesRead
  }, idleMs)
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
