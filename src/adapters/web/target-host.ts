// The host that a request goes to, as it may be shown: name and port, nothing of the path or the query.

import { invalid } from '../../core/errors.ts'

/** `name:port` of an absolute http: or https: URL; throws ERR_UPLOAD_INVALID_ARGUMENT for any other. */
export function hostOf(url: string): string {
  const target = URL.canParse(url) ? new URL(url) : undefined
  if (target?.protocol !== 'http:' && target?.protocol !== 'https:') {
    return invalid('The address is not an absolute http: or https: URL')
  }
  return `${target.hostname}:${target.port || (target.protocol === 'https:' ? '443' : '80')}`
}

/** Whether a page may read all of what answers there. */
export function isSameOrigin(url: string): boolean {
  return new URL(url).origin === globalThis.location.origin
}
