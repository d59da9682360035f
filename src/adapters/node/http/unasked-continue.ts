// Skips a `100 Continue` that nobody asked for. A client must (RFC 9110, 15.2), and some servers and proxies send one
// before the answer to any PUT, but undici 7 then gives the connection up. It does skip a 102, so that is what it gets
// to read.

import type { Socket } from 'node:net'

/** A status line up to the first digit of its status. undici skips empty lines before it. */
const LINE = 'HTTP/1.1 1'
const [ZERO, TWO, LINE_FEED, RETURN] = [0x30, 0x32, 0x0a, 0x0d]

/**
 * Reads along on a socket. Returns what to call when a request begins, because only the heads before its answer are
 * inspected.
 */
export function passOverContinue(socket: Socket): () => void {
  /** Characters of a status line so far. Infinity outside of one, because the answer itself has begun. */
  let at = Infinity
  let isInterim = false
  let lineBreaks = 0

  const look = (bytes: Uint8Array): void => {
    for (let index = 0; index < bytes.length && at !== Infinity; index += 1) {
      const byte = bytes[index]
      if (isInterim) {
        // An interim head ends with an empty line, and another may follow.
        if (byte === LINE_FEED) lineBreaks += 1
        else if (byte !== RETURN) lineBreaks = 0
        if (at === LINE.length + 1 && byte === ZERO) bytes[index] = TWO
        at = at === LINE.length && byte === ZERO ? at + 1 : LINE.length + 2
        if (lineBreaks === 2) [at, isInterim, lineBreaks] = [0, false, 0]
      } else if (byte === LINE.charCodeAt(at)) {
        at += 1
        isInterim = at === LINE.length
      } else if (at > 0 || (byte !== RETURN && byte !== LINE_FEED)) at = Infinity
    }
  }
  const read = socket.read.bind(socket)
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size)
    if (at !== Infinity && chunk instanceof Uint8Array) look(chunk)
    return chunk
  }
  return () => {
    at = 0
    isInterim = false
  }
}
