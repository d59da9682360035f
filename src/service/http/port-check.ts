// Finds a port that cannot be listened on before the database is started, which takes seconds and leaves a folder behind.

import { once } from 'node:events'
import { createServer } from 'node:net'

/** Rejects as listening there would, with EADDRINUSE for a port that is taken. */
export async function checkPort(port: number, host: string): Promise<void> {
  const server = createServer()
  server.listen({ port, host })
  await once(server, 'listening')
  await new Promise((resolve) => server.close(resolve))
}
