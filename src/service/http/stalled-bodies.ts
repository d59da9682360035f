// A call whose body stops coming loses its connection: its client may have gone without a word, and nothing else would end it.

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
    if (!raw.complete && routeOptions.config.watchesBody !== true) watch(raw, idleMs)
    done(null, payload)
  })
}

function watch(raw: IncomingMessage, idleMs: number): void {
  let seenBytes = raw.socket.bytesRead
  const timer = setInterval(() => {
    const { bytesRead } = raw.socket
    if (raw.complete) clearInterval(timer)
    else if (bytesRead === seenBytes) raw.destroy()
    seenBytes = bytesRead
  }, idleMs)
  raw.once('close', () => clearInterval(timer))
}
