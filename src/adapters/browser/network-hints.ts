// What a page hears of its network and its sleep. All of it is hearsay: it wakes a probe early and decides nothing.

/**
 * Calls `onHint` when the page came online, was shown again, or was taken out of the freezer or the back-forward cache.
 * Returns how to stop.
 */
export function listenForNetwork(onHint: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined
  const whenShown = (): void => {
    if (document.visibilityState === 'visible') onHint()
  }
  globalThis.addEventListener('online', onHint)
  globalThis.addEventListener('pageshow', onHint)
  document.addEventListener('resume', onHint)
  document.addEventListener('visibilitychange', whenShown)
  return () => {
    globalThis.removeEventListener('online', onHint)
    globalThis.removeEventListener('pageshow', onHint)
    document.removeEventListener('resume', onHint)
    document.removeEventListener('visibilitychange', whenShown)
  }
}
