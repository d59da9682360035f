// One open connection as the transport sees it: it can be reset, knows when bytes have left the process, and reads what
// has arrived before it believes that the pipe is broken.
//
// A server that refuses a body answers and closes while we are still writing. Its answer is then in the receive buffer
// of a connection on which the next write fails, and Node (20 to 24) destroys a socket on a failed write without
// reading it. So a failed write is held back until the reading side has ended. After EPIPE or ECONNRESET the kernel has
// shut both sides, so that end always comes, right behind the bytes that did arrive.

import type { Socket } from 'node:net'
import { finished } from 'node:stream'
import { passOverContinue } from './unasked-continue.ts'

/** An open connection. `socket` carries HTTP. Its TCP socket may lie below TLS and a proxy's tunnel. */
export interface Wire {
  readonly socket: Socket
  /** A request begins: what is read from here on is its answer. */
  begin(): void
  /** Ends the connection at once with a TCP reset: what the kernel has not sent is not sent. Idempotent. */
  reset(): void
  /** True while written bytes have not left the process. After the end: whether some never did. */
  hasUnsentBytes(): boolean
  /**
   * Calls back once, as soon as every byte written so far is known to have left the process, or the connection has
   * ended. Returns false if that is so already, and then calls nobody.
   */
  whenFlushed(callback: () => void): boolean
}

type Done = (error?: Error | null) => void

/**
 * Takes over a connected socket. `tcp` is the TCP socket below it, which is the same for plain HTTP without a proxy.
 */
export function createWire(tcp: Socket, socket: Socket): Wire {
  let waiters: (() => void)[] = []
  let hasFailedWrite = false
  let unsentAtEnd: boolean | undefined

  const wake = () => {
    const woken = waiters
    waiters = []
    for (const callback of woken) callback()
  }
  const isUnsent = (): boolean => {
    if (hasFailedWrite) return true
    if (socket.writableLength === 0) return false
    // libuv may have sent everything without having called back yet, so its own count decides. Node 20 to 24 have that
    // only on the handle. If it is missing, the stream's count stands.
    const queued = (tcp as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize
    return queued === undefined || queued > 0
  }
  const freeze = () => (unsentAtEnd ??= isUnsent())

  const written =
    (done: Done): Done =>
    (error) => {
      if (error) hasFailedWrite = true
      if (error && isBrokenPipe(error)) {
        finished(socket, { writable: false }, () => done(error))
        return
      }
      done(error)
      if (socket.writableLength === 0) wake()
    }
  interceptWrites(socket, written, freeze)
  socket.on('close', wake)

  return {
    socket,
    begin: passOverContinue(socket),
    reset: () => {
      freeze()
      // resetAndDestroy (Node 18.3) skips the orderly end and sets SO_LINGER to 0. With destroy alone, the kernel would
      // deliver what it holds. Below TLS the reset must hit the TCP socket, because a TLSSocket refuses it.
      if (!tcp.destroyed) tcp.resetAndDestroy()
      socket.destroy()
    },
    hasUnsentBytes: () => unsentAtEnd ?? isUnsent(),
    whenFlushed: (callback) => {
      if (socket.writableLength === 0 || socket.destroyed) return false
      waiters.push(callback)
      return true
    },
  }
}

function isBrokenPipe(error: Error): boolean {
  const code = 'code' in error ? error.code : undefined
  return code === 'EPIPE' || code === 'ECONNRESET'
}

/** Puts our callback around every write, and looks at the state once more before the handle goes. */
function interceptWrites(socket: Socket, written: (done: Done) => Done, onDestroy: () => void): void {
  const write = socket._write.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, written(done))
  const writev = socket._writev?.bind(socket)
  if (writev) socket._writev = (chunks, done) => writev(chunks, written(done))
  const destroy = socket._destroy.bind(socket)
  socket._destroy = (error, done) => {
    onDestroy()
    destroy(error, done)
  }
}
