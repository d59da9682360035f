// One connection of a scripted server. It reads nothing on its own.

import type { Socket } from 'node:net'

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

/** The client has ended the connection. A script may end with this without failing. */
export class ConnectionEnded extends Error {}

/** `tcp` is what carries `socket`: the same one, unless that speaks TLS. */
export function scriptedConnection(tcp: Socket, socket: Socket): ScriptedConnection {
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
