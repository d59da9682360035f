// A loopback address that refuses connections for as long as a test wants it to. The port of a closed server would not
// do: another test may listen there and never answer. A server that is told this port may listen on it meanwhile.

import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface RefusingAddress {
  readonly port: number
  /** `http://127.0.0.1:port`. */
  readonly origin: string
  /** Releases the port. */
  close(): Promise<void>
}

/** Holds the port as the local end of a connection: it is bound, and nobody listens on it. */
export async function refusingAddress(): Promise<RefusingAddress> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  // With a `localAddress` the port is bound before it connects, so that no other connection gets it as its local end.
  const holder = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', localAddress: '127.0.0.1' })
  const far = await accepted
  const port = far.remotePort ?? 0
  return {
    port,
    origin: `http://127.0.0.1:${String(port)}`,
    close: async () => {
      holder.destroy()
      far.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
