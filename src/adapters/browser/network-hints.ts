// What a page hears of its network and its sleep. All of it is hearsay: it wakes a probe early and decides nothing.

import { isSeen } from '../web/is-seen.ts'

/**
 * Calls `onHint` when the page came online, was shown again, or was taken out of the freezer or the back-forward cache.
 * Returns how to stop.
 */
export function listenForNetwork(onHint: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined
  const whenShown = (): void => {
    if (isSeen()) onHint()
  }
  const listening = new AbortController()
  const how = { signal: listening.signal }
  globalThis.addEventListener('online', onHint, how)
  globalThis.addEventListener('pageshow', onHint, how)
  document.addEventListener('resume', onHint, how)
  document.addEventListener('visibilitychange', whenShown, how)
  return () => listening.abort()
}
