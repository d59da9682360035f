// Turns what Node and undici throw into the transport's one exception. It names host and port, never path or query.

import { isIPv4 } from 'node:net'
import { hostOf } from '../../../core/address/address.ts'
import { TransportError, type AttemptEnding } from '../../../core/errors.ts'
import { ProxyRefusedError, ProxyUnreachedError } from './proxy.ts'
import { hostnameOf } from './host-and-port.ts'

/** Where and how an attempt failed. */
export interface FailureContext {
  readonly target: URL
  readonly phase: 'connect' | 'send' | 'answer'
  readonly ending: AttemptEnding
}

/** This machine found no way there. */
const UNREACHED = /^(?:ENETUNREACH|EADDRNOTAVAIL)$/

/** A connection counts as an open file. */
const FILES_OPEN = {
  EMFILE:
    'this program has too many files open. Raise its limit of open files (ulimit -n), or send fewer parts at a time',
  ENFILE: 'this machine has too many files open. Close other programs',
}

const doing = { connect: 'connecting', send: 'sending', answer: 'waiting for the answer' }

/** Makes the error. A cause is kept only if it is a system error of Node, which holds an address and a port. */
export function networkFailure(thrown: unknown, { target, phase, ending }: FailureContext): TransportError {
  const unreached = thrown instanceof ProxyUnreachedError ? thrown.proxy : undefined
  const proxy = thrown instanceof ProxyRefusedError ? thrown.proxy : unreached
  const error = tellingOf(thrown instanceof ProxyUnreachedError ? thrown.cause : thrown)
  const host = hostOf(target.href)
  const code = codeOf(error)
  const what = describe(error, code, unreached ?? host, unreached ?? hostnameOf(target), phase)
  const message = unreached === undefined ? what : `The proxy ${unreached} could not be used for ${host}: ${what}`
  return new TransportError('ERR_UPLOAD_NETWORK', message, {
    phase,
    ending,
    details: { host, ...(proxy === undefined ? {} : { proxy }), ...(code === undefined ? {} : { systemCode: code }) },
    ...(isSystemError(error) ? { cause: error } : {}),
    ...(code === 'ERR_TRANSPORT_CLOSED' ? { isRetryable: false } : {}),
    isUnreadable: unreadable(error, code) !== undefined,
  })
}

function describe(
  error: unknown,
  code: string | undefined,
  host: string,
  hostname: string,
  phase: FailureContext['phase'],
): string {
  if (error instanceof ProxyRefusedError) return `${error.message} to ${host}${PROXY_ADVICE[error.status] ?? ''}`
  const while_ = `while ${doing[phase]}`
  const why = unreadable(error, code)
  if (why !== undefined) return `The answer of ${host} was not HTTP/1.1 that can be read (${why})`
  switch (code) {
    case 'ECONNREFUSED':
      return `Connection to ${host} was refused`
    case 'ECONNRESET':
    case 'EPIPE':
      return `Connection to ${host} was reset ${while_}`
    case 'UND_ERR_SOCKET':
      return `Connection to ${host} was closed by the other side ${while_}`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `Host ${hostname} could not be found (${code})`
    case 'ENETUNREACH':
    case 'ENETDOWN':
    case 'EHOSTUNREACH':
    case 'EADDRNOTAVAIL':
      return `There is no way to ${host} from here (${code}): the network is off, or does not lead there`
    case 'EMFILE':
    case 'ENFILE':
      return `No connection to ${host} could be opened (${code}): ${FILES_OPEN[code]}`
    case 'ETIMEDOUT':
      return `${host} did not answer ${while_} (${code})`
    case 'ERR_TRANSPORT_CLOSED':
      return `Connection to ${host} was given up because the transport was closed`
    default:
  }
  if (code?.includes('_ALERT_') === true) return `${host} refused the TLS connection (${code}): ${tlsAdvice(code)}`
  if (code !== undefined && isCertificateCode(code)) {
    return `The certificate of ${host} was not accepted (${code}): ${certificateTrouble(code)}`
  }
  if (code !== undefined && NOT_TLS.has(code)) {
    return `${host} does not speak TLS (${code}): its port is one for plain HTTP or something else, so check the address`
  }
  return `Connection to ${host} failed ${while_}${code === undefined ? '' : ` (${code})`}`
}

/** Why an answer that did come cannot be read; undefined if none came. It contains nothing of the answer. */
function unreadable(error: unknown, code: string | undefined): string | undefined {
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return code
  if (code === 'ERR_ASSERTION') return 'a status that there is not'
  if (!(error instanceof Error)) return undefined
  // For these, undici 7 has a name or words, but no code of their own.
  if (error.name === 'HTTPParserError') return /\(([\w ,./-]{1,80})\)$/.exec(error.message)?.[1] ?? error.name
  return ['bad response', 'bad upgrade'].includes(error.message)
    ? 'an answer or a 101 that nobody asked for'
    : undefined
}

/**
 * Picks the error that tells most. For several addresses Node collects one error each. With IPv6 off there is no way to
 * any of its addresses, so the errors of the others say why, even if there is no way to those either.
 */
function tellingOf(thrown: unknown): unknown {
  if (!(thrown instanceof AggregateError)) return thrown
  const errors = thrown.errors as readonly unknown[]
  const isOfIPv4 = (error: unknown): boolean => isIPv4((error as { readonly address?: string }).address ?? '')
  return errors.find((error) => !UNREACHED.test(codeOf(error) ?? '')) ?? errors.find(isOfIPv4) ?? errors[0] ?? thrown
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[A-Z0-9_]{1,64}$/.test(error.code) ? error.code : undefined
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'errno' in error
}

/** What OpenSSL makes of the first bytes of an answer that is not TLS. */
const NOT_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
])

const PROXY_ADVICE: Readonly<Record<number, string>> = {
  403: ': those who run it must allow that host',
  407: ': check the name and password in its address',
}

/** What OpenSSL reports when the far end, not we, ends the handshake. */
function tlsAdvice(code: string): string {
  return `${wantedBy(code)}. Ask those who run that host`
}

function wantedBy(alert: string): string {
  if (alert.endsWith('PROTOCOL_VERSION')) return 'it wants another version of TLS'
  if (alert.endsWith('NO_APPLICATION_PROTOCOL')) return 'it does not speak HTTP/1.1, perhaps only HTTP/2'
  return 'it may want a certificate of this machine, which cannot be given'
}

/** A network that first wants a sign-in shows a certificate of its own for every host. */
function certificateTrouble(code: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return 'it has expired, and those who run that host must renew it, or the clock of this machine is wrong'
    case 'CERT_NOT_YET_VALID':
      return 'it is not valid yet, or the clock of this machine is wrong'
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return "it is for another name: the address is misspelt, or this network's sign-in page answers in its place"
    default:
      return (
        'no authority that this machine trusts vouches for it. A private one can be added with a CA file; ' +
        "else this network's sign-in page may answer in its place"
      )
  }
}

export function isCertificateCode(code: string): boolean {
  return code.includes('CERT') || code.startsWith('UNABLE_TO_') || code === 'ERR_TLS_CERT_ALTNAME_INVALID'
}
