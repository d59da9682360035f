// Where a request goes. The addresses of a session name one origin, and reading each as a URL is costly. So if an
// address begins as the one before did, only its path is checked: 0.6 instead of 2.3 µs for 230 characters.

import { parseUrl } from '../../../core/address/address.ts'
import { invalid } from '../../../core/errors.ts'

export interface Target {
  /** As URL writes it: `https://host:port`, without a port that is the scheme's own. */
  readonly origin: string
  /** Path and query, as they are sent. */
  readonly path: string
}

/** What URL leaves as it is in path and query alike. It encodes or removes all other characters, and an empty query. */
const PLAIN = /^[\w\-.~!$&()*+,;=:@%/?]*[\w\-.~!$&()*+,;=:@%/]$/
/** URL removes steps such as `..`, in any spelling, from a path. */
const STEPS = /\/(?:\.|%2e)/i

/** Makes the reader. It throws ERR_UPLOAD_INVALID_ARGUMENT for anything but an absolute http: or https: URL. */
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

/** Throws as the reader above does. */
export function readUrl(url: string): URL {
  const parsed = parseUrl(url)
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    return invalid('The address is not an absolute http: or https: URL')
  }
  return parsed
}
