// Requests that a client sends before the earlier ones are answered (RFC 9112, 9.3.2). Node begins each as soon as it is read and
// holds its answer back until its turn comes, so that one connection could have thousands of files open and in memory.

import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests of one connection may be without an answer. Browsers, and clients unless told otherwise, send one. */
const MOST_UNANSWERED = 16

const unanswered = new WeakMap<Socket, Set<ServerResponse>>()

/** Ends connections that send more requests than that, and tells answers that were held back when their connection ends. */
export function boundPipelining(server: Server): void {
  server.on('request', ({ socket }, response: ServerResponse) => {
    const answers = unanswered.get(socket) ?? watched(socket)
    answers.add(response)
    response.once('close', () => answers.delete(response))
    if (answers.size > MOST_UNANSWERED) socket.destroy()
  })
}

function watched(socket: Socket): Set<ServerResponse> {
  const answers = new Set<ServerResponse>()
  unanswered.set(socket, answers)
  socket.once('close', () => {
    // Node tells only the answer whose turn it was. The others would never end, nor close what they read from.
    for (const response of answers) {
      if (response.socket !== null) continue
      response.destroy()
      response.emit('close')
    }
  })
  return answers
}

/** Whether an answer has begun on this connection, so that anything else would be taken for a piece of it. */
export function isAnswering(socket: Socket): boolean {
  return [...(unanswered.get(socket) ?? [])].some(
    ({ headersSent, writableFinished }) => headersSent && !writableFinished,
  )
}
