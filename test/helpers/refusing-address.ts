// An address of loopback that refuses connections for as long as a test wants it to. A port that a closed server has
// left is anybody's: another test may listen there, and never answer.

import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface RefusingAddress {
  readonly port: number
  /** `http://127.0.0.1:port`. */
  readonly origin: string
  /** Leaves the port to others. */
  close(): Promise<void>
}

/** Holds the port as the near end of a connection: it is bound, and nobody listens on it. */
export async function refusingAddress(): Promise<RefusingAddress> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  // With an address of its own the port is bound before it connects, and no connection gets it as its near end.
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
