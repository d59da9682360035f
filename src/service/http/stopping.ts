// Stops the server: it accepts nothing new, finishes what is in flight, and nobody can delay the end forever.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

import type { FastifyInstance } from 'fastify'

/** How often to look for connections that have become idle, ms. */
const IDLE_CHECK_MS = 50

/**
 * The connections on which nothing was asked yet: browsers open some ahead of need. Node does not count them as idle. Call it before
 * the server listens.
 */
export function unusedConnections(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))
  return unused
}

/** Tells clients of a service that stops not to use their connection again: they might, just as it is closed. */
export function closeAnswered(app: FastifyInstance, isStopping: () => boolean): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) reply.header('connection', 'close')
    done(null, payload)
  })
}

interface Stop {
  readonly unused: ReadonlySet<Socket>
  readonly withinMs: number
}

/** Closes the server. Calls still in flight after `withinMs` lose their connection, and their clients try again. */
export async function stopServer(app: FastifyInstance, { unused, withinMs }: Stop): Promise<void> {
  // A keep-alive connection that was busy when the stop began would otherwise delay it until its client leaves.
  const sweep = setInterval(() => {
    app.server.closeIdleConnections()
    for (const socket of unused) socket.destroy()
  }, IDLE_CHECK_MS)
  const bound = setTimeout(() => app.server.closeAllConnections(), withinMs)
  await app.close().finally(() => {
    clearInterval(sweep)
    clearTimeout(bound)
  })
}
