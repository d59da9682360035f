// Deliberate waits and deliberately broken connections. A wait ends early when its client leaves or the service closes, because a
// rehearsed stall must never keep a service from stopping.

import type { Socket } from 'node:net'

export interface Holding {
  /**
   * Waits `ms`, or until the client leaves if `ms` is undefined. False when the connection is gone and must not be answered any
   * more. `onTick` is called about once a second.
   */
  hold(socket: Socket, ms: number | undefined, onTick?: () => void): Promise<boolean>
  /** Waits `ms` whether or not anybody is still connected; cut short when the service closes. */
  pass(ms: number, onTick?: () => void): Promise<void>
  /** Ends all waits early. Stalls without an end lose their connections. */
  close(): void
}

const TICK_MS = 1_000

export function createHolding(): Holding {
  const held = new Set<() => void>()
  let isClosed = false
  const wait = (ms: number | undefined, onTick: () => void, onClosing: () => void, socket?: Socket): Promise<void> =>
    new Promise((resolve) => {
      const closing = () => {
        onClosing()
        end()
      }
      const ticker = setInterval(onTick, TICK_MS)
      const timer = ms === undefined ? undefined : setTimeout(() => end(), ms)
      const end = () => {
        clearInterval(ticker)
        clearTimeout(timer)
        held.delete(closing)
        socket?.off('close', end)
        resolve()
      }
      socket?.once('close', end)
      held.add(closing)
      if (isClosed) closing()
      else if (socket?.destroyed === true) end()
    })
  return {
    async hold(socket, ms, onTick = () => undefined) {
      await wait(ms, onTick, () => ms === undefined && socket.destroy(), socket)
      return !socket.destroyed
    },
    pass: (ms, onTick = () => undefined) => wait(ms, onTick, () => undefined),
    close() {
      isClosed = true
      for (const closing of [...held]) closing()
    },
  }
}

/** Ends a connection without an answer: with a TCP reset, or closed as if everything had been sent. */
export function cut(socket: Socket, how: 'reset' | 'close'): void {
  if (how === 'reset') socket.resetAndDestroy()
  else socket.destroy()
}
