// A call whose body stops coming, or whose answer is not taken, loses its connection: its client may have gone without a word,
// and nothing else would end it.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its body is passed on as it comes, and watched where it goes. */
    readonly watchesBody?: boolean
  }
}

/** Watches the body of every call until all of it is there. */
export function endStalledBodies(app: FastifyInstance, idleMs: number): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { raw, routeOptions } = request
    if (!raw.complete && routeOptions.config.watchesBody !== true) endIfStalled(raw, idleMs)
    done(null, payload)
  })
}

/** Ends the connection when nothing comes for `idleMs` to twice as long, until the body is there. */
export function endIfStalled(raw: IncomingMessage, idleMs: number): void {
  // A request whose answer is out no longer hears of its connection.
  const { socket } = raw
  let seenBytes = socket.bytesRead
  const timer = setInterval(() => {
    const { bytesRead } = socket
    if (raw.complete) end()
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

/** Ends the connection of every answer of which nothing is taken for `idleMs`. To be put on after all that delays answers. */
export function endUntakenAnswers(app: FastifyInstance, idleMs: number): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    // When the answer is out, Node puts its own limit for idle connections in place of this one.
    reply.raw.setTimeout(idleMs)
    done(null, payload)
  })
}
