// A raw TCP or TLS server that does on each connection what a test says: reads, answers, closes or resets only when
// told. It reads nothing on its own, so that a test decides how much the far end has received.

import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'

/** A request as it arrived on the wire. */
export interface ScriptedRequest {
  /** The head as text, without the blank line. */
  readonly head: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Lower-case names. A repeated header has its last value. */
  readonly headers: ReadonlyMap<string, string>
}

/** One connection, seen from the server. Reads after its end reject with ConnectionEnded. */
export interface ScriptedConnection {
  readHead(): Promise<ScriptedRequest>
  /** The next `count` bytes. */
  readBytes(count: number): Promise<Buffer>
  /** A head, and the body whose length its Content-Length announces. */
  readRequest(): Promise<ScriptedRequest & { readonly body: Buffer }>
  /** Everything until the end, however the connection ends. */
  readToEnd(): Promise<Buffer>
  /** Settles when the bytes have left the process or can no longer leave it. */
  write(data: string | Uint8Array): Promise<void>
  /** Passes everything until the end to `use`. */
  forEach(use: (chunk: Buffer) => void): Promise<void>
  /** Sends FIN after what was written. */
  end(): void
  /** Closes at once. If bytes in its buffer are unread, the kernel sends a reset, as for a server that refuses a body. */
  destroy(): void
  /** Sends RST. */
  reset(): void
  /**
   * Settles at the end, with the error's code or `end`. The end is noticed only by reading up to it. Over TLS a reset may
   * be reported as `end`.
   */
  readonly ended: Promise<string>
}

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

/** The client has ended the connection. A script may end with this without failing. */
class ConnectionEnded extends Error {}

/** Starts a server on a free port of 127.0.0.1; with a certificate and its key, PEM, it speaks TLS. */
export async function scriptedServer(
  script: (connection: ScriptedConnection, connectionIndex: number) => Promise<void> | void,
  options: { readonly tls?: { readonly cert: string; readonly key: string } | undefined } = {},
): Promise<ScriptedServer> {
  const connections: ScriptedConnection[] = []
  const sockets = new Set<Socket>()
  const failures: unknown[] = []
  const begin = (tcp: Socket, socket: Socket) => {
    const connection = createConnection(tcp, socket)
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

function createConnection(tcp: Socket, socket: Socket): ScriptedConnection {
  let held: Buffer = Buffer.alloc(0)
  let hasEnded = false
  let wake = () => {}
  let code = 'end'
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code ?? error.message))
    socket.once('close', () => resolve(code))
  })
  if (tcp === socket) {
    // libuv (1.46 in Node 20) reports a reset after a partial read as an ordinary end. Only a write tells them apart.
    tcp.once('end', () => {
      if (tcp.destroyed || tcp.writableEnded) return
      tcp.write(' ', (error) => {
        if (error) code = 'ECONNRESET'
        tcp.destroy()
      })
    })
  }
  socket.on('readable', () => wake())
  for (const event of ['end', 'close']) {
    socket.once(event, () => {
      hasEnded = true
      wake()
    })
  }

  /** Takes the next piece from the socket; undefined at the end. */
  const pull = async (): Promise<Buffer | undefined> => {
    for (;;) {
      const chunk = socket.read() as Buffer | null
      if (chunk !== null) return chunk
      if (hasEnded) return undefined
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const readBytes = async (count: number): Promise<Buffer> => {
    const chunks = [held]
    let heldBytes = held.byteLength
    while (heldBytes < count) {
      const chunk = await pull()
      if (chunk === undefined) throw new ConnectionEnded()
      chunks.push(chunk)
      heldBytes += chunk.byteLength
    }
    const all = Buffer.concat(chunks)
    held = all.subarray(count)
    return all.subarray(0, count)
  }
  const readHead = async (): Promise<ScriptedRequest> => {
    let end = held.indexOf('\r\n\r\n')
    while (end < 0) {
      const chunk = await pull()
      if (chunk === undefined) throw new ConnectionEnded()
      held = Buffer.concat([held, chunk])
      end = held.indexOf('\r\n\r\n')
    }
    const head = held.subarray(0, end).toString('latin1')
    held = held.subarray(end + 4)
    return parseHead(head)
  }

  return {
    readHead,
    readBytes,
    readRequest: async () => {
      const request = await readHead()
      return { ...request, body: await readBytes(Number(request.headers.get('content-length') ?? 0)) }
    },
    readToEnd: async () => {
      const chunks = [held]
      held = Buffer.alloc(0)
      for (let chunk = await pull(); chunk !== undefined; chunk = await pull()) chunks.push(chunk)
      return Buffer.concat(chunks)
    },
    write: (data) => new Promise((resolve) => socket.write(data, () => resolve())),
    forEach: async (use) => {
      use(held)
      held = Buffer.alloc(0)
      for (let chunk = await pull(); chunk !== undefined; chunk = await pull()) use(chunk)
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    reset: () => void tcp.resetAndDestroy(),
    ended,
  }
}

function parseHead(head: string): ScriptedRequest {
  const [first = '', ...lines] = head.split('\r\n')
  const [method = '', path = ''] = first.split(' ')
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return { head, method, path, headers }
}
