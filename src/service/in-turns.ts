// Long work on the one thread, in slices between which the event loop turns: whoever asks for little meanwhile is answered.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long the thread is kept, ms: no longer than a call to the database takes. */
const SLICE_MS = 10

/** Takes one step for each item, in order. Rejects with the signal's reason, between slices. `nowMs` is monotonic. */
export async function inTurns<T>(
  items: Iterable<T>,
  step: (item: T) => void,
  signal: AbortSignal,
  nowMs = () => performance.now(),
): Promise<void> {
  let sliceEndMs = nowMs() + SLICE_MS
  for (const item of items) {
    if (nowMs() >= sliceEndMs) {
      await nextTurn()
      signal.throwIfAborted()
      sliceEndMs = nowMs() + SLICE_MS
    }
    step(item)
  }
}
