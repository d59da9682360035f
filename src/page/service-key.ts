// The service's key in the page. It is taken once, from the URL's fragment or from the person, and kept only in the session
// storage of the tab.

const KEPT_AS = 'mocap-uplink key'

/** Whether the address bar has a key, as `#key=…`. */
export function hasKey(): boolean {
  return keyInAddress() !== null
}

/** The key from the address bar, which is then removed from the address bar and the history. Without it, the key that is kept. */
export function takeKey(): string | undefined {
  const brought = keyInAddress()
  if (brought === null) return inStorage((storage) => storage.getItem(KEPT_AS)) ?? undefined
  history.replaceState(null, '', location.pathname + location.search)
  keepKey(brought)
  return brought
}

export function keepKey(key: string): void {
  inStorage((storage) => storage.setItem(KEPT_AS, key))
}

export function forgetKey(): void {
  inStorage((storage) => storage.removeItem(KEPT_AS))
}

function keyInAddress(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('key')
}

/** A browser that is told to keep nothing for this site refuses the storage itself. Then each reload asks for the key again. */
function inStorage<Result>(work: (storage: Storage) => Result): Result | undefined {
  try {
    return work(sessionStorage)
  } catch {
    return undefined
  }
}
