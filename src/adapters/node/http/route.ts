// Where a connection for a target begins: at the target itself or at a proxy, and only where the address policy allows it.

import { isIP, type LookupFunction } from 'node:net'
import { forbiddenHost } from '../../../core/address/address-policy.ts'
import { isPublicIp } from '../../../core/address/public-host.ts'
import { hostnameOf, portOf } from './host-and-port.ts'
import { createProxyChoice, type ProxyOptions } from './proxy.ts'
import { createPublicLookup } from './public-lookup.ts'

/** Which way connections take. */
export interface RouteOptions {
  readonly proxy?: ProxyOptions | undefined
  /**
   * `public`: connects only to addresses of the public internet, judged after the name is resolved. Others are
   * ERR_UPLOAD_INSECURE_URL. Behind a proxy, the proxy resolves names, so only IP addresses are judged. Default `any`.
   */
  readonly addressPolicy?: 'any' | 'public' | undefined
}

export interface Route {
  /** The proxy that the target is reached through, if any. */
  readonly proxy: URL | undefined
  /** Where the TCP connection goes, for `net.connect`. */
  readonly first: { readonly host: string; readonly port: number; readonly lookup?: LookupFunction }
}

/**
 * Makes the function that finds the way to a target. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid proxy; the
 * function throws ERR_UPLOAD_INSECURE_URL for a target that the policy forbids.
 */
export function createRouting({ proxy: options, addressPolicy = 'any' }: RouteOptions): (target: URL) => Route {
  const lookup = addressPolicy === 'public' ? createPublicLookup() : undefined
  const proxyFor = createProxyChoice(options)
  return (target) => {
    const proxy = proxyFor(target)
    const host = hostnameOf(target)
    // Node does not look an IP address up.
    if (lookup !== undefined && isIP(host) !== 0 && !isPublicIp(host)) throw forbiddenHost(host)
    if (proxy !== undefined) return { proxy, first: { host: hostnameOf(proxy), port: portOf(proxy) } }
    return { proxy, first: { host, port: portOf(target), ...(lookup === undefined ? {} : { lookup }) } }
  }
}
