// One bare round trip: a TCP handshake, after which the connection is reset before a byte is sent. It waits in the same
// queues as what we upload, so its time tells how long others have to wait there.

import net from 'node:net'
import { forbiddenHost } from '../../../core/address/address-policy.ts'
import { isPublicIp } from '../../../core/address/public-host.ts'
import { onAbort } from '../../../core/on-abort.ts'
import type { ConnectorOptions } from './connector.ts'
import { hostnameOf, portOf } from './host-and-port.ts'
import { createProxyChoice } from './proxy.ts'
import { createPublicLookup } from './public-lookup.ts'

/**
 * Makes the `roundTrip` of a transport, under the same rules for proxies and hosts as its connections. Behind a proxy
 * it measures the way to the proxy. A name is resolved once, because looking it up is not part of the line.
 */
export function createRoundTrip({ proxy, addressPolicy = 'any' }: ConnectorOptions) {
  const lookup = addressPolicy === 'public' ? createPublicLookup() : undefined
  const proxyFor = createProxyChoice(proxy)
  let known: { readonly origin: string; readonly ip: string } | undefined

  return async (url: string, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    const target = new URL(url)
    const through = proxyFor(target)
    const first = through ?? target
    const host = hostnameOf(first)
    // Node does not look an IP address up.
    if (lookup !== undefined && through === undefined && net.isIP(host) !== 0 && !isPublicIp(host)) {
      throw forbiddenHost(host)
    }
    const socket = net.connect({
      host: known?.origin === first.origin ? known.ip : host,
      port: portOf(first),
      ...(lookup === undefined || through !== undefined ? {} : { lookup }),
    })
    const leave = onAbort(signal, () => socket.destroy(signal.reason as Error))
    try {
      await new Promise<void>((resolve, reject) => {
        socket.on('error', reject)
        socket.once('connect', resolve)
      })
      const ip = socket.remoteAddress
      known = ip === undefined ? undefined : { origin: first.origin, ip }
    } catch (error) {
      known = undefined
      throw error
    } finally {
      leave()
      socket.resetAndDestroy()
    }
  }
}
