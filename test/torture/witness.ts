// A proxy between the command line and the service that sees every request: what was put, how many bytes of it went
// through, what was answered when, and what was confirmed. It changes nothing.

import { createServer, request, Agent } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface PutSeen {
  /** The process that sent it, counted from 0. */
  readonly life: number
  /** See `unitOf`. */
  readonly unit: string
  forwardedBytes: number
  /** As it was passed back; undefined when it never was. */
  answer: { readonly status: number; readonly atMs: number } | undefined
}

export interface ConfirmSeen {
  readonly life: number
  readonly fileId: string
}

export interface Witness {
  /** For HTTP_PROXY. */
  readonly url: string
  readonly puts: readonly PutSeen[]
  readonly confirms: readonly ConfirmSeen[]
  /** From now on requests are those of this process. Resolves with its first PUT. */
  begin(life: number): Promise<void>
  close(): Promise<void>
}

/** What an address is for, without its secret: path and part number. */
export function unitOf(address: string): string {
  const url = new URL(address, 'http://any')
  return `${url.pathname} ${url.searchParams.get('partNumber') ?? '1'}`
}

/** Starts it in front of the service that listens on this port of this machine. `now` gives the times of answers, ms. */
export async function startWitness(servicePort: number, now: () => number): Promise<Witness> {
  const puts: PutSeen[] = []
  const confirms: ConfirmSeen[] = []
  const sockets = new Set<Socket>()
  const agent = new Agent({ keepAlive: true })
  let life = 0
  let onPut = (): void => undefined

  function note(incoming: IncomingMessage): PutSeen | undefined {
    const { method, url = '' } = incoming
    if (method === 'PUT') {
      const put: PutSeen = { life, unit: unitOf(url), forwardedBytes: 0, answer: undefined }
      puts.push(put)
      onPut()
      incoming.on('data', (piece: Buffer) => (put.forwardedBytes += piece.length))
      return put
    }
    if (method === 'PATCH' && url === '/upload_videos') {
      const of = life
      const pieces: Buffer[] = []
      incoming.on('data', (piece: Buffer) => pieces.push(piece))
      incoming.on('end', () => {
        const { affected_file_id: id } = JSON.parse(Buffer.concat(pieces).toString()) as { affected_file_id: unknown }
        confirms.push({ life: of, fileId: String(id) })
      })
    }
    return undefined
  }

  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, url, headers } = incoming
    const put = note(incoming)
    const onward = request({ host: '127.0.0.1', port: servicePort, method, path: url, headers, agent })
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on('error', () => outgoing.destroy()).pipe(outgoing)
      outgoing.on('finish', () => {
        if (put !== undefined) put.answer = { status: outgoing.statusCode, atMs: now() }
      })
    })
    onward.on('error', () => outgoing.destroy())
    // The death of the process reaches the service as it would without us: the body ends in the middle.
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) onward.destroy()
    })
    incoming.on('error', () => onward.destroy()).pipe(onward)
  }

  const inner = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, pass)
  const outer = createServer()
  outer.on('connect', (_request, socket: Socket, head) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy()))
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    inner.emit('connection', socket)
  })
  await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(outer.address() as AddressInfo).port}`,
    puts,
    confirms,
    begin(next) {
      life = next
      return new Promise((resolve) => (onPut = resolve))
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      agent.destroy()
      await new Promise((resolve) => outer.close(resolve))
    },
  }
}
