// What is asked on each connection of the server, and not answered yet. A client may send requests before the earlier ones are answered
// (RFC 9112, 9.3.2): Node begins each as soon as it is read and holds its answer back until its turn comes, so that one connection
// could have thousands of files open and in memory.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests of one connection may be without an answer. Browsers, and clients unless told otherwise, send one. */
const MOST_UNANSWERED = 16

export interface Connections {
  /**
   * Those on which nothing is asked: not yet, as browsers open some ahead of need, or not any more. Unlike Node, counts half of a head
   * for nothing.
   */
  idle(): Socket[]
  /** Whether an answer has begun on this one, so that anything else would be taken for a piece of it. */
  isAnswering(socket: Socket): boolean
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Call it before the server listens. Ends connections that send more requests than that, and tells answers that were held back when
 * their connection ends.
 */
export function watchConnections(server: Server): Connections {
  const open = new Map<Socket, Set<Exchange>>()
  server.on('connection', (socket: Socket) => {
    const exchanges = new Set<Exchange>()
    open.set(socket, exchanges)
    socket.once('close', () => {
      open.delete(socket)
      // Node tells only the answer whose turn it was. The others would never end, nor close what they read from.
      for (const { response } of exchanges) {
        if (response.socket !== null) continue
        response.destroy()
        response.emit('close')
      }
    })
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchanges = open.get(request.socket) ?? new Set()
    forgetOver(exchanges)
    exchanges.add({ request, response })
    // An idle connection keeps nothing of it.
    response.once('close', () => forgetOver(exchanges))
    if (exchanges.size > MOST_UNANSWERED) request.socket.destroy()
  })
  return {
    idle: () => [...open].filter(([, exchanges]) => [...exchanges].every(isOver)).map(([socket]) => socket),
    isAnswering: (socket) =>
      [...(open.get(socket) ?? [])].some(({ response }) => response.headersSent && !response.writableFinished),
  }
}

function forgetOver(exchanges: Set<Exchange>): void {
  for (const exchange of exchanges) if (isOver(exchange)) exchanges.delete(exchange)
}

/** After an answer that came early, the rest of the body may still be on its way. */
function isOver({ request, response }: Exchange): boolean {
  return request.complete && response.writableFinished
}
