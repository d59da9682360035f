// Calls functions when a signal fires. A host gives one signal to all that it begins, and Node warns of a leak when more than
// ten listeners are added to it, so all that waits for the same signal shares one listener.

interface Waiting {
  /**
   * Not a Set. When members come and go, V8 renews a Set's table, and the old table points to the new one. An old table that has
   * outlived two quick collections keeps all younger ones, and what ended attempts left in them, until the next full collection.
   */
  readonly acts: (() => void)[]
  readonly fire: () => void
}

const waitingBySignal = new WeakMap<AbortSignal, Waiting>()

/**
 * Calls `act`, which must not throw, when the signal fires, or at once if it has. Returns a function that stops waiting; the
 * last one to stop removes the listener.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act()
    return () => undefined
  }
  const { acts, fire } = waitingBySignal.get(signal) ?? firstOf(signal)
  if (acts.length === 0) signal.addEventListener('abort', fire, { once: true })
  acts.push(act)
  return () => {
    const at = acts.indexOf(act)
    if (at >= 0) acts.splice(at, 1)
    if (acts.length === 0) signal.removeEventListener('abort', fire)
  }
}

function firstOf(signal: AbortSignal): Waiting {
  const acts: (() => void)[] = []
  const waiting = {
    acts,
    fire: () => {
      // What stops waiting meanwhile is not called.
      while (acts.length > 0) acts.shift()?.()
    },
  }
  waitingBySignal.set(signal, waiting)
  return waiting
}
