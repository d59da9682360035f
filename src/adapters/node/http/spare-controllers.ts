// The controllers of attempts, used again one after the other: to make one, listen to it and let go of it is a thirtieth of what
// a small file costs, because Node sets each up anew and its garbage collector is slow to let go of them. So is to begin and to
// end to listen: each is heard by one listener as long as it is used, which all attempts share.

import { getEventListeners } from 'node:events'
import { onAbort } from '../../../core/on-abort.ts'
import type { Controllers } from '../../../core/ports.ts'

/**
 * After so many attempts all that there are by then are let go: what a host's source makes of a signal (`AbortSignal.any`) stays with
 * it, in Node 20, for as long as it lives.
 */
const RENEWED_AFTER = 256

/** One that was aborted, or to which somebody beside us still listens, is not used again. */
export function createSpareControllers(): Controllers {
  let known = new Set<AbortController>()
  let spare: AbortController[] = []
  let attempts = 0

  const make = (): AbortController => {
    const controller = new AbortController()
    // Whoever stays keeps the listener that is shared.
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

/** Node knows it of its own signals alone, and not where a page's globals stand beside it: in Electron, or a DOM in tests. */
function isUnheard(signal: AbortSignal): boolean {
  try {
    return getEventListeners(signal, 'abort').length === 1
  } catch {
    return false
  }
}
