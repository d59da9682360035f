// What a page hears about its network and its sleep. All of it is hearsay: it wakes a probe early and decides nothing.

/** All of these pass the window in the capture phase, though not all bubble. */
const HINTS = ['online', 'pageshow', 'resume', 'visibilitychange']

/**
 * Has `uplink` probe when the page came online, was shown or hidden, or left the freezer or the back-forward cache. Returns the
 * function that stops this. The window does not keep an Uplink that nobody uses any more, such as that of an element of a view that
 * is gone: each visit of such a view would leave one, with all that its credentials hold. The next hint removes what listened for it.
 */
export function listenForNetwork(uplink: { probeNow(): void }): () => void {
  if (typeof document === 'undefined') return () => undefined
  const kept = new WeakRef(uplink)
  const stop = (): void => {
    for (const hint of HINTS) removeEventListener(hint, onHint, true)
  }
  const onHint = (): void => {
    const listening = kept.deref()
    if (listening) listening.probeNow()
    else stop()
  }
  for (const hint of HINTS) addEventListener(hint, onHint, true)
  return stop
}
