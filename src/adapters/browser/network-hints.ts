// What a page hears about its network and its sleep. All of it is hearsay: it wakes a probe early and decides nothing.

/** All of these pass the window in the capture phase, though not all bubble. */
const HINTS = ['online', 'pageshow', 'resume', 'visibilitychange']

/**
 * Calls `onHint` when the page came online, was shown or hidden, or left the freezer or the back-forward cache. Returns
 * the function that stops this.
 */
export function listenForNetwork(onHint: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined
  for (const hint of HINTS) addEventListener(hint, onHint, true)
  return () => {
    for (const hint of HINTS) removeEventListener(hint, onHint, true)
  }
}
