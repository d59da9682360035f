// What is to happen when a signal fires. A host gives one signal to all that it begins, and Node warns of a leak where more than
// ten listen to it: whatever waits for the same signal shares one listener.

class Waiting extends Set<() => void> {
  handleEvent(): void {
    for (const act of this) act()
  }
}

const waitingBySignal = new WeakMap<AbortSignal, Waiting>()

/** Calls `act` when the signal fires, at once where it has. Returns how to leave; the last to leave takes the listener along. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act()
    return () => undefined
  }
  const waiting = waitingBySignal.get(signal) ?? new Waiting()
  if (waiting.size === 0) {
    waitingBySignal.set(signal, waiting)
    signal.addEventListener('abort', waiting, { once: true })
  }
  waiting.add(act)
  return () => {
    waiting.delete(act)
    if (waiting.size === 0) signal.removeEventListener('abort', waiting)
  }
}
