// Reuses the controllers of attempts. Making one, listening to it and letting go of it takes a thirtieth of what a
// small file costs, because Node sets each up anew and its garbage collector is slow to free them. Adding and removing
// a listener is costly as well, so each has one listener for as long as it is used, shared by all attempts.

import { getEventListeners } from 'node:events'
import { onAbort } from '../../../core/on-abort.ts'
import type { Controllers } from '../../../core/ports.ts'

/**
 * After this many attempts, all controllers made so far are dropped: in Node 20, whatever a host's source makes of a
 * signal with `AbortSignal.any` stays with it as long as it lives.
 */
const RENEWED_AFTER = 256

/** Makes the store. A controller that was aborted, or to which somebody besides us still listens, is not used again. */
export function createSpareControllers(): Controllers {
  let known = new Set<AbortController>()
  let spare: AbortController[] = []
  let attempts = 0

  const make = (): AbortController => {
    const controller = new AbortController()
    // Never leaves, so the shared listener stays.
    onAbort(controller.signal, () => undefined)
    known.add(controller)
    return controller
  }
  return {
    take() {
      attempts += 1
      if (attempts % RENEWED_AFTER === 0) [known, spare] = [new Set(), []]
      return spare.pop() ?? make()
    },
    giveBack(controller) {
      if (!controller.signal.aborted && known.has(controller) && isUnheard(controller.signal)) spare.push(controller)
    },
  }
}

/**
 * Only Node can tell, and only of its own signals: not where a page's globals exist too, as in Electron or with a DOM
 * in tests.
 */
function isUnheard(signal: AbortSignal): boolean {
  try {
    return getEventListeners(signal, 'abort').length === 1
  } catch {
    return false
  }
}
