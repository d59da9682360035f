// How often callers are let in: each organisation has so many calls a minute, each remote address so many refused ones. Once an
// address has used up its refusals, its credentials are no longer looked up, unless they were right before. So one wrong key does
// not lock out others behind the same router or load balancer.

import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

import { refuse } from '../http/replies.ts'
import type { ServiceSettings } from '../settings.ts'
import { createRateLimit } from './rate-limit.ts'

/** How many recently valid credentials are remembered, by digest. They are still looked up at every call. */
const MAX_KNOWN = 10_000

export interface Admission {
  /** Call it before a credential is looked up. Throws 429 for an address that has used up its refusals. */
  checkAddress(request: FastifyRequest): void
  countRefusal(request: FastifyRequest): void
  /** Throws 429 when the organisation has used up its calls. */
  countCall(request: FastifyRequest, orgId: string): void
}

export function createAdmission({ limits, now, bearerHeaders }: ServiceSettings): Admission {
  const calls = createRateLimit(limits.callsPerMinute, now)
  const refusals = createRateLimit(limits.refusalsPerMinute, now)
  const known = new Set<string>()
  const credentialsOf = ({ headers }: FastifyRequest): string => {
    const hash = createHash('sha256')
    for (const name of ['x-api-key', ...bearerHeaders]) hash.update(JSON.stringify(headers[name] ?? ''))
    return hash.digest('base64')
  }
  return {
    checkAddress(request) {
      const waitMs = refusals.waitOf(networkOfCaller(request))
      if (waitMs > 0 && !known.has(credentialsOf(request)))
        refuseUntil(waitMs, 'Too many calls with improper credentials came from this address.')
    },
    countRefusal(request) {
      // One that was right before may be revoked, or over.
      known.delete(credentialsOf(request))
      refusals.take(networkOfCaller(request))
    },
    countCall(request, orgId) {
      const credentials = credentialsOf(request)
      // Inserted anew, so that the first entry of the set is always the least recent caller.
      known.delete(credentials)
      known.add(credentials)
      if (known.size > MAX_KNOWN) known.delete(known.values().next().value ?? '')
      const waitMs = calls.take(orgId)
      if (waitMs > 0) refuseUntil(waitMs, `The organisation has used up its ${limits.callsPerMinute} calls a minute.`)
    },
  }
}

function refuseUntil(waitMs: number, what: string): never {
  const seconds = Math.ceil(waitMs / 1000)
  refuse(429, 'rate_limited', `${what} Try again in ${seconds} s.`, { retry_after_seconds: seconds })
}

/** Of a caller whose connection has ended meanwhile, the address is not known any more. */
function networkOfCaller({ ip }: { readonly ip: string | undefined }): string {
  return networkOf(ip ?? '')
}

/**
 * The address itself, or for IPv6 its /64, because one household or machine owns all addresses of such a network. Some proxies add
 * the port, which is another one for each connection.
 */
export function networkOf(source: string): string {
  const address = source.replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const groups = head.split(':')
  const behind = tail === undefined || tail === '' ? 0 : tail.split(':').length
  const whole = tail === undefined ? groups : [...groups, ...new Array<string>(8 - groups.length - behind).fill('0')]
  const network = [...whole, ...(tail ?? '').split(':')].slice(0, 4)
  return `${network.map((group) => parseInt(group || '0', 16).toString(16)).join(':')}::/64`
}
