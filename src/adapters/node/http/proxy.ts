// Which proxy a target is reached through, and the CONNECT tunnel that reaches it. Both kinds of target are tunnelled,
// so that no proxy sees a signed address that it need not see.

import http from 'node:http'
import { BlockList, isIP, isIPv6, type Socket } from 'node:net'
import { unescape } from 'node:querystring'
import { hostOf } from '../../../core/address/address.ts'
import { invalid } from '../../../core/errors.ts'
import { hostnameOf, portOf } from './host-and-port.ts'

/** Proxies by the scheme of the target: `http://` or `https://` addresses, which may hold user and password. */
export interface ProxyOptions {
  /** For `https:` targets. */
  readonly https?: string | undefined
  /** For `http:` targets. */
  readonly http?: string | undefined
  /**
   * Hosts that are reached directly, separated by commas: `host` (exactly), `.suffix` or `*.suffix` (everything below
   * it), each with an optional `:port`, or `*` (all). An IPv6 address needs brackets only before a port. A range of
   * addresses such as `10.0.0.0/8` excepts targets that are named by such an address.
   */
  readonly no?: string | undefined
}

/** Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY. A lower-case name wins. Returns undefined if no proxy is named. */
export function proxyFromEnvironment(env: Readonly<Record<string, string | undefined>>): ProxyOptions | undefined {
  const read = (name: string) => env[name.toLowerCase()]?.trim() || env[name]?.trim()
  const https = read('HTTPS_PROXY')
  const plain = read('HTTP_PROXY')
  const no = read('NO_PROXY')
  if (!https && !plain) return undefined
  return { ...(https ? { https } : {}), ...(plain ? { http: plain } : {}), ...(no ? { no } : {}) }
}

/**
 * Makes the function that names the proxy for a target, if any. Throws ERR_UPLOAD_INVALID_ARGUMENT for an address that
 * cannot be a proxy's.
 */
export function createProxyChoice(options: ProxyOptions | undefined): (target: URL) => URL | undefined {
  // A text would be taken for an object without addresses, and everything would go past the proxy.
  if (options !== undefined && (typeof options !== 'object' || Array.isArray(options))) {
    invalid('proxy must be an object: give { https, http, no }.')
  }
  const https = parseProxy(options?.https, 'https')
  const plain = parseProxy(options?.http, 'http')
  const exceptions = (options?.no ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    // An address with a zone (fe80::1%eth0) cannot be the host of a URL, so it excepts nothing.
    .map((entry) => (isIPv6(entry) && !entry.includes('%') ? new URL(`http://[${entry}]`).hostname : entry))
  const ranges = rangesOf(exceptions)
  return (target) => {
    const proxy = target.protocol === 'https:' ? https : plain
    if (proxy === undefined || isWithin(ranges, target) || exceptions.some((entry) => isException(entry, target)))
      return undefined
    return proxy
  }
}

/** The ranges of addresses among the exceptions, such as `10.0.0.0/8` or `fd00::/8`. */
function rangesOf(exceptions: readonly string[]): BlockList {
  const ranges = new BlockList()
  for (const entry of exceptions) {
    const [, address = '', bits] = /^\[?([\d.:a-f]+)\]?\/(\d{1,3})$/.exec(entry) ?? []
    const version = isIP(address)
    if (version === 4 && Number(bits) <= 32) ranges.addSubnet(address, Number(bits), 'ipv4')
    if (version === 6 && Number(bits) <= 128) ranges.addSubnet(address, Number(bits), 'ipv6')
  }
  return ranges
}

function isWithin(ranges: BlockList, target: URL): boolean {
  const address = hostnameOf(target)
  const version = isIP(address)
  return version !== 0 && ranges.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

/** A proxy that answered but did not open the tunnel. Its code is `ERR_PROXY_ANSWERED_` and the status. */
export class ProxyRefusedError extends Error {
  readonly status: number
  readonly code: string
  /** The proxy's host and port. */
  readonly proxy: string

  constructor(proxy: URL, status: number) {
    super(`The proxy ${proxy.host} answered ${String(status)} instead of opening a connection`)
    this.name = 'ProxyRefusedError'
    this.status = status
    this.code = `ERR_PROXY_ANSWERED_${String(status)}`
    this.proxy = proxy.host
  }
}

/** A connection that failed before the proxy opened the tunnel, so that nothing is known of the target. The cause says why. */
export class ProxyUnreachedError extends Error {
  /** The proxy's host and port. */
  readonly proxy: string

  constructor(proxy: URL, cause: unknown) {
    super(`The proxy ${proxy.host} could not be reached`, { cause })
    this.name = 'ProxyUnreachedError'
    this.proxy = proxy.host
  }
}

/**
 * Asks the proxy at the other end of `stream` for a tunnel to `target`. Rejects with ProxyRefusedError, or with the
 * connection's own error. To give up, destroy the stream.
 */
export function openTunnel(stream: Socket, proxy: URL, target: URL): Promise<Socket> {
  const authority = hostOf(target.href)
  return new Promise((resolve, reject) => {
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      createConnection: () => stream,
    })
    request.once('connect', (response, _socket, head) => {
      const status = response.statusCode ?? 0
      if (status < 200 || status > 299) {
        reject(new ProxyRefusedError(proxy, status))
        return
      }
      if (head.byteLength > 0) stream.unshift(head)
      resolve(stream)
    })
    // A refusal can also arrive as an ordinary response.
    request.once('response', (response) => reject(new ProxyRefusedError(proxy, response.statusCode ?? 0)))
    request.on('error', reject)
    request.end()
  })
}

function parseProxy(value: string | undefined, name: string): URL | undefined {
  if (value === undefined || value === '') return undefined
  const address = value.includes('://') ? value : `http://${value}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    return invalid(`The proxy for ${name} targets (${name.toUpperCase()}_PROXY) is not an http: or https: address.`)
  }
  return url
}

function isException(entry: string, target: URL): boolean {
  if (entry === '*') return true
  const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
  if (port !== undefined && port !== String(portOf(target))) return false
  const suffix = name.startsWith('*.') ? name.slice(1) : name
  return suffix.startsWith('.') ? target.hostname.endsWith(suffix) : target.hostname === suffix
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === '' && proxy.password === '') return {}
  // A percent sign that encodes nothing stands for itself, as people write it in HTTPS_PROXY.
  const userinfo = `${unescape(proxy.username)}:${unescape(proxy.password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(userinfo).toString('base64')}` }
}
