// Stops the server: it accepts nothing new, finishes what is in flight, and nobody can delay the end forever.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

import type { FastifyInstance } from 'fastify'

/** How often to look for connections that have become idle, ms. */
const IDLE_CHECK_MS = 50

/**
 * Finds the connections on which nothing is asked: not yet, as browsers open some ahead of need, or not any more. Unlike Node, it
 * counts half of a head for nothing. Call it before the server listens.
 */
export function idleConnections(server: Server): () => Socket[] {
  const lastOn = new Map<Socket, Exchange | undefined>()
  server.on('connection', (socket: Socket) => {
    lastOn.set(socket, undefined)
    socket.once('close', () => lastOn.delete(socket))
  })
  server.on('request', (request, response) => {
    const { socket } = request
    const last = { request, response }
    // Those before it on this connection were read and will be answered before.
    lastOn.set(socket, last)
    response.once('close', () => {
      // An idle connection keeps nothing of it.
      if (lastOn.get(socket) === last && isOver(last)) lastOn.set(socket, undefined)
    })
  })
  return () => [...lastOn].filter(([, last]) => last === undefined || isOver(last)).map(([socket]) => socket)
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

function isOver({ request, response }: Exchange): boolean {
  return request.complete && response.writableFinished
}

/** Tells clients of a service that stops not to use their connection again: they might, just as it is closed. */
export function closeAnswered(app: FastifyInstance, isStopping: () => boolean): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) reply.header('connection', 'close')
    done(null, payload)
  })
}

interface Stop {
  readonly idle: () => readonly Socket[]
  readonly withinMs: number
}

/** Closes the server. Calls still in flight after `withinMs` lose their connection, and their clients try again. */
export async function stopServer(app: FastifyInstance, { idle, withinMs }: Stop): Promise<void> {
  // A keep-alive connection that was busy when the stop began would otherwise delay it until its client leaves.
  const sweep = setInterval(() => {
    for (const socket of idle()) socket.destroy()
  }, IDLE_CHECK_MS)
  const bound = setTimeout(() => app.server.closeAllConnections(), withinMs)
  await app.close().finally(() => {
    clearInterval(sweep)
    clearTimeout(bound)
  })
}
