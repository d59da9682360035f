// One HTTP exchange of the independent service: reads the body, does the work and answers, or fails as the script says.

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

import type { Fault, FaultAction, RequestRecord } from './independent-records.ts'
import { refusingAddress } from '../../src/testing/refusing-address.ts'

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** A string goes out as it is, anything else as JSON, undefined as an empty body. */
  readonly body?: unknown
}

/** Finds the action for each request. A line with a number applies to one request only. */
export interface FaultScript {
  take(record: RequestRecord): FaultAction | undefined
  /** Lines that no request has matched yet. A test that ends with such lines has not tested what it claims. */
  pending(): readonly Fault[]
}

export function createFaultScript(faults: readonly Fault[]): FaultScript {
  const lines = faults.map((fault) => ({ fault, matches: 0, isUsed: false }))
  return {
    take(record) {
      let action: FaultAction | undefined
      for (const line of lines) {
        const { operation, fileName, partNumber, nth } = line.fault
        if (operation !== record.operation) continue
        if (fileName !== undefined && fileName !== record.fileName) continue
        if (partNumber !== undefined && partNumber !== record.partNumber) continue
        line.matches++
        if (action !== undefined || (nth !== 'every' && nth !== line.matches)) continue
        line.isUsed = true
        action = line.fault.action
      }
      return action
    },
    pending: () => lines.filter((line) => !line.isUsed).map((line) => line.fault),
  }
}

export interface Exchange {
  readonly record: RequestRecord
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly action: FaultAction | undefined
  /** Fires when the service closes, so that a late answer is not waited for. */
  readonly closing: AbortSignal
  /** Resets every connection of the server, which then accepts no more. */
  goAway(): void
  /** Called with each piece of the body. */
  onPiece(piece: Buffer): void
  /** The ordinary work, done once the whole body has arrived. */
  work(): Answer
}

/** Runs one exchange to its end. `record` then says how it ended. Never rejects. */
export async function runExchange(exchange: Exchange): Promise<void> {
  const { record, request, response, action, closing } = exchange
  try {
    if (typeof action === 'object' && 'status' in action && action.early !== undefined) {
      sendEarly(exchange, action, action.early)
      return
    }
    if (action === 'outage') {
      record.ending = 'reset'
      exchange.goAway()
      return
    }
    const stall = typeof action === 'object' && 'stall' in action ? action.stall : undefined
    const silence = (): Promise<void> => wait(FOREVER_MS, undefined, { signal: closing })
    if (stall === 'beforeBody') await silence()
    const stallAfter = stall === 'midBody' ? Number(request.headers['content-length'] ?? 0) / 2 : Infinity
    const resetAfter = action === 'resetMidBody' ? Number(request.headers['content-length'] ?? 0) / 2 : Infinity
    for await (const piece of request as AsyncIterable<Buffer>) {
      record.bodyBytes += piece.byteLength
      // Reset before leaving the loop, because leaving it would end the connection in the ordinary way.
      if (record.bodyBytes >= resetAfter) reset(exchange)
      if (record.bodyBytes >= stallAfter) await silence()
      exchange.onPiece(piece)
    }
    if (action === 'resetMidBody') {
      reset(exchange)
      return
    }
    if (action === 'html500') {
      const page = '<html><head><title>500</title></head><body><h1>Internal Server Error</h1></body></html>'
      send(exchange, { status: 500, headers: { 'content-type': 'text/html' }, body: page })
      return
    }
    if (typeof action === 'object' && 'status' in action) {
      send(exchange, action)
      return
    }
    const answer = exchange.work()
    if (action === 'loseReply') {
      record.ending = 'replyLost'
      request.socket.destroy()
      return
    }
    if (stall === 'afterBody') await silence()
    if (typeof action === 'object' && 'delayMs' in action) await wait(action.delayMs, undefined, { signal: closing })
    send(exchange, action === 'wrongEtag' ? { ...answer, headers: { ...answer.headers, etag: OTHER_ETAG } } : answer)
  } catch {
    // Only the request's own stream can fail here: the client went away, or the service is closing.
    if (record.ending === 'open') record.ending = 'clientGone'
    response.destroy()
  }
}

/** The MD5 of bytes that no test sends. */
const OTHER_ETAG = '"0123456789abcdef0123456789abcdef"'
/** Effectively until the service closes: the longest delay of a timer on this platform. */
const FOREVER_MS = 2 ** 31 - 1

function reset({ record, request }: Exchange): void {
  record.ending = 'reset'
  request.socket.resetAndDestroy()
}

function sendEarly(exchange: Exchange, answer: Answer, early: 'drain' | 'close'): void {
  if (early === 'drain') exchange.request.resume()
  send(exchange, early === 'drain' ? answer : { ...answer, headers: { connection: 'close', ...answer.headers } })
}

function send({ record, response }: Exchange, { status, headers = {}, body }: Answer): void {
  if (response.destroyed || response.socket?.destroyed === true) {
    record.ending = 'clientGone'
    return
  }
  const isText = typeof body === 'string'
  const payload = body === undefined ? '' : isText ? body : JSON.stringify(body)
  const type = body === undefined ? {} : { 'content-type': isText ? 'application/xml' : 'application/json' }
  response.writeHead(status, { ...type, 'content-length': String(Buffer.byteLength(payload)), ...headers })
  response.end(payload)
  record.status = status
  if (record.operation !== 'put' && body !== undefined) record.answer = body
  record.ending = 'answered'
}

/** Starts a server on a free loopback port. `origin` has no path. */
export async function listen(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ origin: string; close(): Promise<void>; goAway(): void; comeBack(): Promise<void> }> {
  const server: Server = createServer(onRequest)
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))
  // Kept while it is away, too.
  const address = await refusingAddress()
  const open = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(address.port, '127.0.0.1', resolve)
    })
  await open()
  return {
    origin: address.origin,
    goAway() {
      server.close()
      for (const socket of sockets) socket.resetAndDestroy()
    },
    comeBack: open,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await address.close()
    },
  }
}
