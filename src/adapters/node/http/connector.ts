// Opens connections: TCP, a proxy's tunnel if one is asked for, and TLS on top. Whatever lies between, the result is
// one wire whose TCP socket we hold, because only that socket can be reset.

import { readFileSync } from 'node:fs'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { invalid } from '../../../core/errors.ts'
import { onAbort } from '../../../core/on-abort.ts'
import { wantOfDescriptors } from '../descriptors.ts'
import { beginsWithCertificate } from './certificate.ts'
import { hostnameOf } from './host-and-port.ts'
import { openTunnel, ProxyRefusedError, ProxyUnreachedError } from './proxy.ts'
import { createRouting, type RouteOptions } from './route.ts'
import { createWire, type Wire } from './wire.ts'

/** How connections are made. */
export interface ConnectorOptions extends RouteOptions {
  /** Certificates in PEM, trusted in addition to the system's. */
  readonly caPem?: string | readonly string[] | undefined
}

/**
 * Opens a connection to the origin of `target`. Rejects with the signal's reason when aborted, with ProxyRefusedError or
 * ProxyUnreachedError when it is the proxy that fails, else with Node's error.
 */
export type Connector = (target: URL, signal: AbortSignal) => Promise<Wire>

// Node 20's default of 250 ms for each address is less than one handshake over a bad line, so no address would be
// reached.
const ADDRESS_ATTEMPT_MS = 1000
const TCP_KEEP_ALIVE_MS = 60_000
const MAX_SESSIONS = 64

/** Makes a connector. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid proxy and for certificates that cannot be read. */
export function createConnector({ caPem, ...way }: ConnectorOptions): Connector {
  // The system's roots take long to read, and plain HTTP needs none of them. Given certificates are checked at once.
  let secureContext = caPem === undefined ? undefined : createContext(caPem)
  const routeTo = createRouting(way)
  const sessions = createSessionCache()

  const secure = (below: Socket, target: URL) => {
    const host = hostnameOf(target)
    secureContext ??= createContext(undefined)
    const socket = tls.connect({
      socket: below,
      host,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      servername: net.isIP(host) ? undefined : host,
      session: sessions.get(target.host),
    })
    socket.on('session', (ticket) => sessions.set(target.host, ticket))
    // Some servers end a handshake because of a ticket of their own, and would do so at every attempt.
    const forget = () => sessions.delete(target.host)
    socket.once('close', forget).once('secureConnect', () => socket.off('close', forget))
    return socket
  }

  return async (target, signal) => {
    signal.throwIfAborted()
    const { proxy, first } = routeTo(target)
    const tcp = net.connect({
      ...first,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    })
    let socket = tcp
    // Undefined once the proxy, if there is one, has done its part.
    let proxyAhead = proxy
    const leave = onAbort(signal, () => {
      // From the top: TLS within a proxy's TLS does not hear of the end of the socket two layers below it.
      socket.destroy()
      tcp.destroy()
    })
    try {
      await opened(tcp, 'connect')
      if (proxy !== undefined) {
        if (proxy.protocol === 'https:') await opened((socket = secure(socket, proxy)), 'secureConnect')
        socket = await openTunnel(socket, proxy, target)
        proxyAhead = undefined
      }
      if (target.protocol === 'https:') await opened((socket = secure(socket, target)), 'secureConnect')
      signal.throwIfAborted()
      return createWire(tcp, socket)
    } catch (failure) {
      tcp.destroy()
      signal.throwIfAborted()
      const error = wantOfDescriptors(failure) ?? failure
      if (proxyAhead === undefined || error instanceof ProxyRefusedError) throw error
      throw new ProxyUnreachedError(proxyAhead, error)
    } finally {
      leave()
    }
  }
}

/**
 * The listeners stay: what fails later reaches us through the HTTP client, but a socket that nobody listens to would
 * end the process.
 */
function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.once('close', () => reject(closedEarly()))
    socket.once(event, () => resolve())
  })
}

function closedEarly(): Error {
  return Object.assign(new Error('The connection was closed'), { code: 'ECONNRESET' })
}

function createContext(caPem: string | readonly string[] | undefined): tls.SecureContext {
  if (caPem === undefined) return tls.createSecureContext()
  // Giving `ca` replaces what Node trusts, NODE_EXTRA_CA_CERTS included. Node 22.15 and 24 can tell what that was.
  const known =
    'getCACertificates' in tls ? (tls.getCACertificates as () => string[])() : [...tls.rootCertificates, ...extraOnes()]
  const own = [caPem].flat()
  if (own.length === 0 || !own.every(beginsWithCertificate)) {
    invalid('caPem has no certificate: give the text of a PEM file (-----BEGIN CERTIFICATE-----), not its path.')
  }
  return tls.createSecureContext({ ca: [...known, ...own] })
}

/** Those that NODE_EXTRA_CA_CERTS names. Node itself warns of a file that cannot be read, when it starts. */
function extraOnes(): string[] {
  try {
    return [readFileSync(process.env['NODE_EXTRA_CA_CERTS'] ?? '', 'utf8')]
  } catch {
    return []
  }
}

/**
 * Keeps the session ticket of each of the last hosts that gave one, so that another connection to it needs no full
 * handshake.
 */
function createSessionCache() {
  const sessions = new Map<string, Buffer>()
  return {
    get: (host: string) => sessions.get(host),
    delete: (host: string) => sessions.delete(host),
    set: (host: string, ticket: Buffer) => {
      sessions.set(host, ticket)
      const [oldest] = sessions.keys()
      if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest)
    },
  }
}
