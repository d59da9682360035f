// Where a request goes. The addresses of a session name one origin, and to read a URL as the standard wants it costs as much
// as ten thousand characters of it are long; so of an address that begins as the one before did, only the path is looked at.

import { parseUrl } from '../../../core/address/address.ts'
import { invalid } from '../../../core/errors.ts'

export interface Target {
  /** As URL writes it: `https://host:port`, a usual port left out. */
  readonly origin: string
  /** Path and query, as they are sent. */
  readonly path: string
}

/** What URL leaves as it is in path and query alike: it encodes or removes other characters, and a query without text. */
const PLAIN = /^[\w\-.~!$&()*+,;=:@%/?]*[\w\-.~!$&()*+,;=:@%/]$/
/** Steps such as `..`, in any spelling, are taken out of a path. */
const STEPS = /\/(?:\.|%2e)/i

/** Reads addresses. Throws ERR_UPLOAD_INVALID_ARGUMENT for what is no absolute http: or https: URL. */
export function createTargetReader(): (url: string) => Target {
  let known = ''

  return (url) => {
    if (known !== '' && url.startsWith(known) && url[known.length] === '/') {
      const path = url.slice(known.length)
      if (PLAIN.test(path) && !STEPS.test(path)) return { origin: known, path }
    }
    const { origin, pathname, search } = readUrl(url)
    known = origin
    return { origin, path: `${pathname}${search}` }
  }
}

/** Throws as above. */
export function readUrl(url: string): URL {
  const parsed = parseUrl(url)
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    return invalid('The address is not an absolute http: or https: URL')
  }
  return parsed
}
