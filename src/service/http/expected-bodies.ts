// `Expect: 100-continue`: a client asks before it sends its body, which may have gigabytes. It is invited only once its request is
// found good. A refusal comes instead of the invitation; Node then closes the connection, as the body may or may not follow.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'

const waiting = new WeakSet<ServerResponse>()

/** Stops Node from inviting every body at once. */
export function holdExpectedBodies(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(response)
    server.emit('request', request, response)
  })
}

/** Invites the body if its client waits for that. Call it where nothing but the body itself can be refused any more. */
export function inviteBody(response: ServerResponse): void {
  if (waiting.delete(response)) response.writeContinue()
}
