// Runs long work on the host's thread in slices. Between them the event loop turns, so that the host's own work, and the bytes of
// the upload itself, go on meanwhile.

import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Steps } from '../../core/journal/steps.ts'

/** How long one slice may hold the thread, ms, if no single step takes longer: a screen is drawn every 16 ms. */
const SLICE_MS = 10

/** Takes all steps and resolves with the result. Rejects with what a step throws. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  for (let sliceEndMs = performance.now() + SLICE_MS; ;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() < sliceEndMs) continue
    await nextTurn()
    sliceEndMs = performance.now() + SLICE_MS
  }
}
