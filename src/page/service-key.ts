// The service's key in the page. It is taken once, from the URL's fragment or from the person, and kept only in the session
// storage of the tab.

const KEPT_AS = 'mocap-uplink key'

/** The key from `#key=…`, which is then removed from the address bar and the history. Without it, the key that is kept. */
export function takeKey(): string | undefined {
  const brought = new URLSearchParams(location.hash.slice(1)).get('key')
  if (brought !== null) {
    history.replaceState(null, '', location.pathname + location.search)
    keepKey(brought)
  }
  return sessionStorage.getItem(KEPT_AS) ?? undefined
}

export function keepKey(key: string): void {
  sessionStorage.setItem(KEPT_AS, key)
}

export function forgetKey(): void {
  sessionStorage.removeItem(KEPT_AS)
}
