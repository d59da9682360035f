// A raw TCP or TLS server that does on each connection what a test says: reads, answers, closes or resets only when
// told. It reads nothing on its own, so that a test decides how much the far end has received.

import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import {
  ConnectionEnded,
  scriptedConnection,
  type ScriptedConnection,
  type ScriptedRequest,
} from './scripted-connection.ts'

/** A running server. */
export interface ScriptedServer {
  readonly port: number
  /** `http://127.0.0.1:port`, or with `https:`. */
  readonly origin: string
  /** All connections so far, in order. */
  readonly connections: readonly ScriptedConnection[]
  /** Stops the server and resets open connections. Rejects with the error of a script that failed. */
  close(): Promise<void>
}

/** Starts a server on a free port of 127.0.0.1; with a certificate and its key, PEM, it speaks TLS. */
export async function scriptedServer(
  script: (connection: ScriptedConnection, connectionIndex: number) => Promise<void> | void,
  options: { readonly tls?: { readonly cert: string; readonly key: string } | undefined } = {},
): Promise<ScriptedServer> {
  const connections: ScriptedConnection[] = []
  const sockets = new Set<Socket>()
  const failures: unknown[] = []
  const begin = (tcp: Socket, socket: Socket) => {
    const connection = scriptedConnection(tcp, socket)
    connections.push(connection)
    Promise.resolve(script(connection, connections.length - 1)).catch((error: unknown) => {
      if (!(error instanceof ConnectionEnded)) failures.push(error)
    })
  }
  const server = options.tls ? tls.createServer(options.tls) : net.createServer({ allowHalfOpen: true })
  const byPort = new Map<number | undefined, Socket>()
  server.on('connection', (tcp: Socket) => {
    const { remotePort } = tcp
    sockets.add(tcp)
    byPort.set(remotePort, tcp)
    tcp.on('error', () => undefined)
    tcp.once('close', () => {
      sockets.delete(tcp)
      byPort.delete(remotePort)
    })
    if (!options.tls) begin(tcp, tcp)
  })
  server.on('secureConnection', (socket: tls.TLSSocket) => {
    begin(byPort.get(socket.remotePort) ?? socket, socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    port,
    origin: `${options.tls ? 'https' : 'http'}://127.0.0.1:${String(port)}`,
    connections,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const tcp of sockets) tcp.destroy()
      await closed
      if (failures.length > 0) throw failures[0]
    },
  }
}

/** A script that answers every request on a connection with what `answer` returns. */
export function answering(
  answer: (request: ScriptedRequest & { readonly body: Buffer }) => string | Uint8Array,
): (connection: ScriptedConnection) => Promise<void> {
  return async (connection) => {
    for (;;) await connection.write(answer(await connection.readRequest()))
  }
}

/** An answer on the wire, with its Content-Length. */
export function httpAnswer(status: number, options: { headers?: readonly string[]; body?: string } = {}): string {
  const { headers = [], body = '' } = options
  const hasBody = status !== 204 && status !== 304
  return [
    `HTTP/1.1 ${String(status)} Scripted`,
    ...headers,
    ...(hasBody ? [`content-length: ${String(Buffer.byteLength(body))}`] : []),
    '',
    hasBody ? body : '',
  ].join('\r\n')
}
