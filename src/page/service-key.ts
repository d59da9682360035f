// The key of this service in the page: taken once from the fragment of the address or from the person, kept for as long
// as the tab lives, and nowhere else.

const KEPT_AS = 'mocap-uplink key'

/** The key that `#key=…` brought, which is removed from the address bar and its history; else the one that is kept. */
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
