// A wire over sockets that do what they are told: what it says has left the process decides whether a part goes again.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'

import { createWire } from '../../../../src/adapters/node/http/wire.ts'

const PIECE = Buffer.alloc(100)

describe('bytes that were written', () => {
  it('are unsent until the system has taken all of them', () => {
    const { wire, socket } = plainWire()
    const flushed = vi.fn()
    expect([wire.hasUnsentBytes(), wire.whenFlushed(flushed)]).toEqual([false, false])
    socket.write(PIECE)
    socket.write(PIECE)
    expect([wire.hasUnsentBytes(), wire.whenFlushed(flushed)]).toEqual([true, true])

    socket.written()
    expect(wire.hasUnsentBytes()).toBe(true)
    expect(flushed).not.toHaveBeenCalled()

    socket.written()
    expect([wire.hasUnsentBytes(), wire.whenFlushed(flushed)]).toEqual([false, false])
    expect(flushed).toHaveBeenCalledOnce()
  })

  it('have left when the system says so, though nobody was called back yet', () => {
    const { wire, socket } = plainWire()
    socket.write(PIECE)
    socket._handle = { writeQueueSize: 1 }
    expect(wire.hasUnsentBytes()).toBe(true)

    socket._handle = { writeQueueSize: 0 }
    expect(wire.hasUnsentBytes()).toBe(false)
  })

  it.each(['EPIPE', 'ENOBUFS'])('and that the system refused have not left: %s', (code) => {
    const { wire, socket } = plainWire()
    socket.on('error', () => undefined)
    socket.write(PIECE)
    socket._handle = { writeQueueSize: 0 }
    socket.written(broken(code))

    expect(wire.hasUnsentBytes()).toBe(true)
  })

  it('are waited for by nobody once the connection has ended', async () => {
    const { wire, socket } = plainWire()
    const flushed = vi.fn()
    socket.write(PIECE)
    wire.whenFlushed(flushed)
    socket.destroy()

    expect(wire.whenFlushed(flushed)).toBe(false)
    await once(socket, 'close')
    expect(flushed).toHaveBeenCalledOnce()
  })
})

describe('a write that failed', () => {
  it.each(['EPIPE', 'ECONNRESET'])('is believed only when all that arrived was read: %s', async (code) => {
    const { socket } = plainWire()
    const errors: Error[] = []
    socket.on('error', (error) => errors.push(error))
    socket.write(PIECE)
    socket.written(broken(code))
    socket.push('HTTP/1.1 403 Forbidden\r\n\r\n')
    await turn()
    expect([errors, String(socket.read())]).toEqual([[], 'HTTP/1.1 403 Forbidden\r\n\r\n'])

    socket.push(null)
    socket.read()
    await turn()
    expect(errors).toMatchObject([{ code }])
  })

  it('is believed at once when the other side had ended before', async () => {
    const { socket } = plainWire()
    socket.push(null)
    socket.resume()
    await once(socket, 'end')
    socket.write(PIECE)
    socket.written(broken('EPIPE'))

    const [error] = (await once(socket, 'error')) as [Error]
    expect(error).toMatchObject({ code: 'EPIPE' })
  })

  it('is believed at once when the connection is not what broke', async () => {
    const { socket } = plainWire()
    socket.write(PIECE)
    socket.written(broken('ENOBUFS'))

    const [error] = (await once(socket, 'error')) as [Error]
    expect(error).toMatchObject({ code: 'ENOBUFS' })
  })
})

describe('a reset', () => {
  it('hits the TCP socket, ends what lies on it at once, and may come twice', () => {
    const { wire, tcp, socket } = layeredWire()
    wire.reset()
    wire.reset()

    expect([tcp.resets, socket.destroyed]).toEqual([1, true])
  })

  it.each([
    ['nothing', 0, false],
    ['something', 1, true],
  ])('leaves behind what had not left: %s', (_what, writeQueueSize, isUnsent) => {
    for (const { wire, tcp, socket } of [plainWire(), layeredWire()]) {
      socket.write(PIECE)
      tcp._handle = { writeQueueSize }
      wire.reset()

      expect([tcp._handle, wire.hasUnsentBytes()]).toEqual([undefined, isUnsent])
    }
  })

  it('of somebody else leaves behind the same', () => {
    const { wire, socket } = plainWire()
    socket.write(PIECE)
    socket._handle = { writeQueueSize: 0 }
    socket.destroy()

    expect(wire.hasUnsentBytes()).toBe(false)
  })
})

/** Takes a write when it is told to, and loses its handle when it is destroyed, as a socket does. */
class HandSocket extends Duplex {
  _handle: { writeQueueSize: number } | undefined
  resets = 0
  #done: ((error?: Error) => void) | undefined

  override _read(): void {
    // What arrives is pushed.
  }

  override _write(_chunk: unknown, _encoding: string, done: (error?: Error) => void): void {
    this.#done = done
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this._handle = undefined
    done(error)
  }

  /** The write under way is done. */
  written(error?: Error): void {
    this.#done?.(error)
  }

  resetAndDestroy(): void {
    this.resets += 1
    this.destroy()
  }
}

function plainWire() {
  const socket = new HandSocket()
  return { wire: createWire(asSocket(socket), asSocket(socket)), tcp: socket, socket }
}

function layeredWire() {
  const [tcp, socket] = [new HandSocket(), new HandSocket()]
  return { wire: createWire(asSocket(tcp), asSocket(socket)), tcp, socket }
}

function asSocket(socket: Duplex): Socket {
  return socket as unknown as Socket
}

function broken(code: string): Error {
  return Object.assign(new Error(code), { code })
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
