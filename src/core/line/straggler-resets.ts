// Resets the attempt that holds up the end of a session, so that its part goes again on a new connection. Only where an abort
// resets the connection: otherwise the second attempt could meet the first.

import type { Attempt } from '../attempt/attempt.ts'
import type { Unit } from '../ports.ts'
import { createStragglerWatch } from './straggler.ts'

export interface StragglerResets {
  /** Resets at most one of the attempts under way; see StragglerWatch. */
  look(running: Iterable<Attempt>, nowMs: number, isTail: boolean): void
}

/** How often a part may be reset for crawling. */
const MAX_RESETS = 2
const CRAWLED = /* @__PURE__ */ new Error('The connection crawled while others did not.')

/** Makes the resets of one session. */
export function createStragglerResets(createWatch = createStragglerWatch<Attempt>): StragglerResets {
  /** A part that goes again keeps its unit. */
  const resets = new WeakMap<Unit, number>()
  const resetsOf = ({ unit }: Attempt): number => resets.get(unit) ?? 0
  const watch = createWatch((attempt) => resetsOf(attempt) >= MAX_RESETS)

  return {
    look(running, nowMs, isTail) {
      // An attempt that was reset may take its time to end, and carries nothing meanwhile. One whose source hangs does not crawl.
      const moving = [...running].filter((each) => each.isSending && !each.isHung && !each.controller.signal.aborted)
      const straggler = watch.look(moving, nowMs, isTail)
      if (straggler === undefined) return
      resets.set(straggler.unit, resetsOf(straggler) + 1)
      straggler.controller.abort(CRAWLED)
    },
  }
}
