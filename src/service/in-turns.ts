// Long work on the one thread, in slices between which the event loop turns: whoever asks for little meanwhile is answered.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long the thread is kept, ms: no longer than a call to the database takes. */
const SLICE_MS = 10

/** What `step` makes of each item, in order. Rejects with the signal's reason, between slices. `nowMs` is monotonic. */
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
