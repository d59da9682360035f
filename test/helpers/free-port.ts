// A loopback port on which nothing listens, for programs that must be given a port.

import { createServer, type AddressInfo } from 'node:net'

/** The port is not reserved, so use it at once. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
