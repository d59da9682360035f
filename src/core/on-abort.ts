// Calls functions when a signal fires. A host gives one signal to all that it begins, and Node warns of a leak when more than
// ten listeners are added to it, so all that waits for the same signal shares one listener.

interface Waiting {
  readonly acts: Set<() => void>
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
  if (acts.size === 0) signal.addEventListener('abort', fire, { once: true })
  acts.add(act)
  return () => {
    acts.delete(act)
    if (acts.size === 0) signal.removeEventListener('abort', fire)
  }
}

function firstOf(signal: AbortSignal): Waiting {
  const acts = new Set<() => void>()
  const waiting = {
    acts,
    fire: () => {
      for (const act of acts) act()
    },
  }
  waitingBySignal.set(signal, waiting)
  return waiting
}
