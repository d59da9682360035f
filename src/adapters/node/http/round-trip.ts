// One bare round trip: a TCP handshake, after which the connection is reset before a byte is sent. It waits in the same
// queues as what we upload, so its time tells how long others have to wait there.

import net from 'node:net'
import { onAbort } from '../../../core/on-abort.ts'
import { createRouting, type RouteOptions } from './route.ts'

/**
 * Makes the `roundTrip` of a transport, under the same rules for proxies and hosts as its connections. Behind a proxy
 * it measures the way to the proxy. A name is resolved once, because looking it up is not part of the line.
 */
export function createRoundTrip(options: RouteOptions) {
  const routeTo = createRouting(options)
  let known: { readonly host: string; readonly port: number; readonly ip: string } | undefined

  return async (url: string, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    const { first } = routeTo(new URL(url))
    const { host, port } = first
    const ip = known?.host === host && known.port === port ? known.ip : undefined
    const socket = net.connect({ ...first, host: ip ?? host })
    const leave = onAbort(signal, () => socket.destroy(signal.reason as Error))
    try {
      await new Promise<void>((resolve, reject) => {
        socket.on('error', reject)
        socket.once('connect', resolve)
      })
      const { remoteAddress } = socket
      known = remoteAddress === undefined ? undefined : { host, port, ip: remoteAddress }
    } catch (error) {
      known = undefined
      throw error
    } finally {
      leave()
      socket.resetAndDestroy()
    }
  }
}
