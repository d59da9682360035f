// A port of loopback on which nothing listens, for programs that must be told theirs.

import { createServer, type AddressInfo } from 'node:net'

/** Nobody keeps it free: whoever wants it takes it at once. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
