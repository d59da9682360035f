// Stops the server: it accepts nothing new, finishes what is in flight, and nobody can delay the end forever.

import type { FastifyInstance } from 'fastify'

import type { Connections } from './connections.ts'

/** How often to look for connections that have become idle, ms. */
const IDLE_CHECK_MS = 50

/** Tells clients of a service that stops not to use their connection again: they might, just as it is closed. */
export function closeAnswered(app: FastifyInstance, isStopping: () => boolean): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) reply.header('connection', 'close')
    done(null, payload)
  })
}

/** Closes the server. Calls still in flight after `withinMs` lose their connection, and their clients try again. */
export async function stopServer(app: FastifyInstance, connections: Connections, withinMs: number): Promise<void> {
  // A keep-alive connection that was busy when the stop began would otherwise delay it until its client leaves.
  const sweep = setInterval(() => {
    for (const socket of connections.idle()) socket.destroy()
  }, IDLE_CHECK_MS)
  const bound = setTimeout(() => app.server.closeAllConnections(), withinMs)
  await app.close().finally(() => {
    clearInterval(sweep)
    clearTimeout(bound)
  })
}
