// Answers what is not yet a request: a head that is too large, too slow or no HTTP, and a path that cannot be decoded. No route or
// hook sees these, so all that an answer needs is written here. Nothing of the request is quoted, because a path may be an address.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

import { ORIGIN_HEADERS } from './other-origins.ts'
import { errorBody } from './replies.ts'

/** What an unreadable request is answered with. */
export const UNREADABLE = errorBody('invalid_request', 'The path or a header is malformed.')

/** Closes a connection on which Node's parser has failed, with an answer unless one has begun there. */
export function answerUnreadable(error: { readonly code?: string }, socket: Socket, isAnswering: boolean): void {
  // After a reset nobody listens any more.
  if (socket.writable && error.code !== 'ECONNRESET' && !isAnswering) {
    const status = statusOf(error.code)
    const body = JSON.stringify(UNREADABLE)
    const headers = {
      ...ORIGIN_HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    }
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
  socket.destroy()
}

function statusOf(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}
