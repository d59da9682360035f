// Runs long work on the single thread in slices. Between them the event loop turns, so that short requests are answered meanwhile.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long one slice may hold the thread, ms: no longer than a database call takes. */
const SLICE_MS = 10

/** Returns what `step` makes of each item, in order. Rejects with the signal's reason between slices. `nowMs` is monotonic. */
export async function inTurns<T, R>(
  items: Iterable<T>,
  step: (item: T) => R,
  signal: AbortSignal,
  nowMs = () => performance.now(),
): Promise<R[]> {
  const made: R[] = []
  let sliceEndMs = nowMs() + SLICE_MS
  for (const item of items) {
    if (nowMs() >= sliceEndMs) {
      await nextTurn()
      signal.throwIfAborted()
      sliceEndMs = nowMs() + SLICE_MS
    }
    made.push(step(item))
  }
  return made
}
