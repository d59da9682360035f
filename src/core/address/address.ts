// A signed address: when it was signed, how long it lives, and how it is shown without giving it away. An address is a secret:
// whoever has it may write to the storage. Nothing here puts one, or a piece of its query, into a message. Reading an address
// never throws, because it came from far away.

import { invalid, UploadError } from '../errors.ts'

/** An `Expires` below this, in 2001, is no time: it says how long the address lives, and not from when. */
const LEAST_TIME_S = 1_000_000_000

/** An address, and what its query says of its times. */
export interface SignedAddress {
  readonly url: string
  /** When it expires, ms since 1970 by the signer's clock; undefined where it does not say. */
  readonly deadlineMs: number | undefined
  /** When it was signed, ms since 1970 by the same clock; undefined where it does not say. */
  readonly signedAtMs: number | undefined
}

/**
 * Reads the query of an address. The deadline is that of AWS or Google V4 (date plus life), of the older `Expires`, or of
 * Azure's `se`, whose colons may be encoded. Names match in any case, and the first of a name counts.
 */
export function readAddress(url: string): SignedAddress {
  const query = `&${queryOf(url)}`
  // Each is looked up for itself, as it stands: decoding the whole query takes longer, in one task for thousands of addresses.
  const valueOf = (name: RegExp): string | undefined => name.exec(query)?.[1]
  const amazonMs = parseTime(valueOf(/&x-amz-date=([^&]*)/i))
  const googleMs = parseTime(valueOf(/&x-goog-date=([^&]*)/i))
  const deadlineMs =
    sum(amazonMs, parseSeconds(valueOf(/&x-amz-expires=([^&]*)/i))) ??
    sum(googleMs, parseSeconds(valueOf(/&x-goog-expires=([^&]*)/i))) ??
    parseSeconds(valueOf(/&expires=([^&]*)/i), LEAST_TIME_S) ??
    parseTime(valueOf(/&se=([^&]*)/i))
  return { url, deadlineMs, signedAtMs: amazonMs ?? googleMs }
}

/** What stands between the `?` and the fragment, not decoded. Empty without a `?`. Parsing the URL takes ten times as long. */
export function queryOf(url: string): string {
  return /^[^?#]*\?([^#]*)/.exec(url)?.[1] ?? ''
}

/** Reads a date and time in a form that all platforms know, as ms since 1970; undefined for what is none. */
export function dateMs(text: string): number | undefined {
  // eslint-disable-next-line no-restricted-globals -- Reads a date that is given; asks for no time.
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** The sum of two times; undefined unless both are known. */
export function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

function parseSeconds(text = '', leastS = 0): number | undefined {
  const seconds = Number(text)
  return /^\d{1,11}$/.test(text) && seconds >= leastS ? seconds * 1000 : undefined
}

/** Reads 20261120T183000Z, 2026-11-20, 2026-11-20T18:30Z and 2026-11-20T18:30:00Z, also with a fraction of a second. */
function parseTime(text = ''): number | undefined {
  const plain = text.replace(/%3A/gi, ':').replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  return /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?$/.test(plain) ? dateMs(plain) : undefined
}

// ---- Showing an address ------------------------------------------------------------------------------------------

/** An address as it may be shown: scheme, host and path, with `?…` for its query. No user, password or fragment. */
export function redactAddress(url: string): string {
  const parsed = parseUrl(url)
  if (parsed === undefined) return '(unreadable address)'
  const origin = `${parsed.protocol}//${parsed.host}`
  return `${origin}${parsed.pathname}${parsed.search === '' ? '' : '?…'}`
}

// ---- Hosts -------------------------------------------------------------------------------------------------------

/**
 * Throws unless a request may go to this URL: ERR_UPLOAD_INSECURE_URL for `http:` to any host but this machine, unless that is
 * allowed; ERR_UPLOAD_INVALID_ARGUMENT for what is no absolute http or https URL, or has a user, a password or a control
 * character in it.
 */
export function checkSecure(url: string, isHttpAllowed: boolean): void {
  // Up to the host where that is plain: what follows makes no URL invalid and takes a parser most of its time, and thousands of
  // addresses come together.
  const parsed = parseHttp(/^https?:\/\/[\w.:-]+\//.exec(url)?.[0] ?? url)
  if (/\p{Cc}/u.test(url)) invalid('An address has a control character in it.')
  if (parsed.username + parsed.password !== '') invalid('An address has a user or a password in it.')
  if (parsed.protocol === 'https:' || isHttpAllowed || isLoopback(parsed.hostname)) return
  throw new UploadError(
    'ERR_UPLOAD_INSECURE_URL',
    `Plain HTTP to ${parsed.host} shows the address and the bytes to all on the way. ` +
      'Use https, or allow plain HTTP if this network is trusted.',
    { details: { host: parsed.host } },
  )
}

/** The host of a URL as `host:port`, always with the port. Throws ERR_UPLOAD_INVALID_ARGUMENT for what is no http or https URL. */
export function hostOf(url: string): string {
  const parsed = parseHttp(url)
  return `${parsed.hostname}:${parsed.port || (parsed.protocol === 'https:' ? 443 : 80)}`
}

function parseHttp(url: string): URL {
  const parsed = parseUrl(url)
  return parsed && /^https?:/.test(parsed.protocol) ? parsed : invalid('An address is no http or https URL.')
}

/** Whether a URL's host name stands for this machine. */
export function isLoopback(hostname: string): boolean {
  // URL has already normalized 127.1, 0x7f000001 and the like to four numbers.
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

/** A URL, or undefined for what is none. Parsed once: asking `URL.canParse` first would parse it twice. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
