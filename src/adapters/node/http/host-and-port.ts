// Where a target is reached, as sockets and resolvers want it.

/** The host as a resolver wants it: an IPv6 address without brackets. */
export function hostnameOf(target: URL): string {
  return target.hostname.replace(/^\[(.*)\]$/, '$1')
}

/** The port. If the address names none, the scheme's own. */
export function portOf(target: URL): number {
  return target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : Number(target.port)
}
