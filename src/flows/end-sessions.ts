// Tells the service which sessions nobody needs any more: all of an upload that is given up, and those that were left empty
// when their addresses died. What it could not be told stays in the journal, and is told by a later life.

import { isGone } from '../client/status.ts'
import { summarize } from '../core/errors.ts'
import { sessionsOf } from '../core/journal/fold-journal.ts'
import type { Clock, Protocol } from '../core/ports.ts'
import type { SessionRecord } from './session-record.ts'
import { withinTime } from '../core/time/within-time.ts'

export interface EndSessionsOptions {
  readonly record: SessionRecord
  readonly protocol: Pick<Protocol, 'cancel'>
  readonly clock: Clock
}

/** How long a cancel waits for the service to be told, ms. */
const CANCEL_WITHIN_MS = 60_000
/** How long what goes on is held up by the end of what was left, ms. */
const END_LEFT_WITHIN_MS = 15_000
const TOO_LATE = 'The service was not reached in time to be told of the cancel.'

/**
 * All of them, wherever files went when addresses died; those that hold confirmed files only where these are given up too.
 * `wasCancelAsked`: an earlier life may have told the service without hearing its answer.
 */
export async function endAllSessions(
  options: EndSessionsOptions,
  wasCancelAsked: boolean | undefined,
): Promise<{ readonly isServiceTold: boolean; readonly failure?: Error }> {
  if (options.protocol.cancel === undefined) return { isServiceTold: false }
  const folded = options.record.folded()
  const sessionIds = sessionsOf(folded)
  for (const { sessionId, failure } of await endEach(options, sessionIds, CANCEL_WITHIN_MS)) {
    // Whoever finds the session gone after such a try has cancelled it, and one that was left may have been ended then. Else the
    // 404 may be that of something between, which knows no such call, also where this life began the session.
    const isExcused = isGone(failure) && (sessionId !== folded?.sessionId || wasCancelAsked)
    if (failure !== undefined && !isExcused) return { isServiceTold: false, failure }
  }
  return { isServiceTold: sessionIds.length > 0 }
}

/**
 * Those that hold no file any more. Each that the service was told of is journalled as ended; the others are given back.
 * Rejects only when the journal does.
 */
export async function endLeftSessions(options: EndSessionsOptions): Promise<readonly (string | number)[]> {
  const left = options.record.folded()?.leftSessionIds ?? []
  const untold: (string | number)[] = []
  for (const { sessionId, failure } of await endEach(options, left, END_LEFT_WITHIN_MS)) {
    if (failure === undefined || isGone(failure)) await options.record.write({ type: 'session.ended', sessionId })
    else untold.push(sessionId)
  }
  return untold
}

function endEach(
  { protocol, clock }: EndSessionsOptions,
  sessionIds: readonly (string | number)[],
  withinMs: number,
): Promise<{ readonly sessionId: string | number; readonly failure: Error | undefined }[]> {
  return Promise.all(
    sessionIds.map(async (sessionId) => {
      const ended = withinTime(clock, withinMs, TOO_LATE, async (signal) => protocol.cancel?.(sessionId, signal))
      return { sessionId, failure: await ended.then(nothing, asError) }
    }),
  )
}

const nothing = (): undefined => undefined
const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(summarize(reason).message))
