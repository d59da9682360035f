// The end of the server: nothing new is taken, what is in flight is finished, and nobody can hold the end up for ever.

import type { FastifyInstance } from 'fastify'

/** How often connections that have become idle are looked for, ms. */
const IDLE_CHECK_MS = 50

/** Closes the server; what is still in flight after `withinMs` loses its connection, and its client tries again. */
export async function stopServer(app: FastifyInstance, withinMs: number): Promise<void> {
  // A kept-alive connection that was busy when the closing began would otherwise hold it until its client leaves.
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
  const bound = setTimeout(() => app.server.closeAllConnections(), withinMs)
  await app.close().finally(() => {
    clearInterval(sweep)
    clearTimeout(bound)
  })
}
