// The base address of the service: checked once, then joined with paths that cannot leave it.

import { hostOf, isLoopback, parseUrl } from '../core/address/address.ts'
import { UploadError, invalid } from '../core/errors.ts'
import { checkObject } from './checks.ts'

/** The value of a query field. Undefined is left out; an array repeats the name. */
export type QueryValue = string | number | boolean | undefined | readonly (string | number | boolean)[]
export type Query = Readonly<Record<string, QueryValue>>

export interface BaseUrl {
  /** `host:port` for messages. The port is there even if it is the scheme's own. */
  readonly host: string
  /**
   * Returns the whole address of a relative path. Throws ERR_UPLOAD_INVALID_ARGUMENT for a path that leaves the base.
   */
  resolve(path: string, query?: Query): string
}

/**
 * Checks a base address: http or https, no user, query or fragment. Plain HTTP off loopback is ERR_UPLOAD_INSECURE_URL
 * unless allowed; everything else is ERR_UPLOAD_INVALID_ARGUMENT. The address itself is not in any message.
 */
export function parseBaseUrl(text: string, isHttpAllowed: boolean): BaseUrl {
  const url = parseUrl(text) ?? invalid('The base URL is not a URL: give https://host/path.')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    invalid(`The base URL begins with ${url.protocol} and must begin with https://, or http:// to this machine.`)
  if (url.username !== '' || url.password !== '') invalid('The base URL has a password or a user: give it without.')
  if (/[?#]/.test(text)) invalid('The base URL has a query or a fragment: give scheme, host and path only.')
  if (url.protocol === 'http:' && !isHttpAllowed && !isLoopback(url.hostname))
    throw new UploadError(
      'ERR_UPLOAD_INSECURE_URL',
      `The base URL is plain HTTP to ${url.hostname}, which shows the credentials to the network: use https, or allow HTTP.`,
    )
  const base = url.origin + url.pathname.replace(/\/+$/, '')
  return {
    host: hostOf(text),
    resolve(path, query = {}) {
      checkPath(path)
      checkObject(query, 'query')
      const search = queryText(query)
      return base + path + (search === '' ? '' : `?${search}`)
    },
  }
}

function checkPath(path: string): void {
  if (typeof path !== 'string' || !/^\/(?!\/)/.test(path))
    invalid('The path must begin with one slash, such as /movement_types.')
  // A parser drops tabs and line breaks and reads a backslash as a slash, so these could hide another host.
  if (/[\\?#\s\p{Cc}\p{Surrogate}]/u.test(path))
    invalid('The path has a query, a fragment, a backslash or a blank: give queries apart, encode the rest.')
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    invalid('The path has dots that leave the base URL: give it without.')
}

function queryText(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) search.append(name, String(one))
  }
  return search.toString()
}
