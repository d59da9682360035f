// Stops the server: it accepts nothing new, finishes what is in flight, and nobody can delay the end forever.

import type { FastifyInstance } from 'fastify'

/** How often to look for connections that have become idle, ms. */
const IDLE_CHECK_MS = 50

/** Closes the server. Calls still in flight after `withinMs` lose their connection, and their clients try again. */
export async function stopServer(app: FastifyInstance, withinMs: number): Promise<void> {
  // A keep-alive connection that was busy when the stop began would otherwise delay it until its client leaves.
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
  const bound = setTimeout(() => app.server.closeAllConnections(), withinMs)
  await app.close().finally(() => {
    clearInterval(sweep)
    clearTimeout(bound)
  })
}
