// Tells the service which sessions nobody needs any more: all those of an upload that is given up, and those left empty when
// their addresses died. Whatever the service could not be told stays in the journal for a later run to tell.

import { isGone } from '../client/status.ts'
import { asOurs } from '../core/errors.ts'
import { sessionsOf } from '../core/journal/fold-journal.ts'
import type { Protocol } from '../core/ports.ts'
import type { DrivenSession } from './driven-session.ts'
import { timeout, withinTime } from '../core/time/within-time.ts'
import type { UploadDefinition } from './upload-definition.ts'

export interface EndSessionsOptions
  extends Pick<DrivenSession, 'record' | 'clock'>, Pick<UploadDefinition, 'wasCancelAsked'> {
  readonly protocol: Pick<Protocol, 'cancel'>
}

/** How long a cancel waits for the service to be told, ms. */
const CANCEL_WITHIN_MS = 60_000
/** How long ending the sessions that were left may delay what goes on, ms. */
const END_LEFT_WITHIN_MS = 15_000
const tooLate = (): Error => timeout('The service was not reached in time to be told of the cancel.')

/**
 * Ends all sessions, wherever files were moved when addresses died. Sessions with confirmed files are ended only where those
 * files are given up too. `keepsConfirmed`: see `sessionsOf`.
 */
export async function endAllSessions(
  options: EndSessionsOptions,
  keepsConfirmed?: boolean,
): Promise<{ readonly isServiceTold: boolean; readonly failure?: Error }> {
  if (!options.protocol.cancel) return { isServiceTold: false }
  const folded = options.record.folded()
  const sessionIds = sessionsOf(folded, keepsConfirmed)
  for (const { sessionId, failure } of await endEach(options, sessionIds, CANCEL_WITHIN_MS)) {
    // A 404 after an earlier cancel means that it worked, and a session that was left may have been ended already. Any other
    // 404 may come from something in between that does not know the call, even where this run began the session.
    const isExcused = isGone(failure) && (sessionId !== folded?.sessionId || options.wasCancelAsked)
    if (failure && !isExcused) return { isServiceTold: false, failure }
  }
  return { isServiceTold: sessionIds.length > 0 }
}

/**
 * Ends the sessions that hold no file any more. Each one the service was told of is journalled as ended; the others are
 * returned. Rejects only when the journal does.
 */
export async function endLeftSessions(options: EndSessionsOptions): Promise<readonly (string | number)[]> {
  const left = options.record.folded()?.leftSessionIds ?? []
  const untold: (string | number)[] = []
  for (const { sessionId, failure } of await endEach(options, left, END_LEFT_WITHIN_MS)) {
    if (!failure || isGone(failure)) await options.record.write({ type: 'session.ended', sessionId })
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
      const ended = withinTime(clock, withinMs, tooLate, async (signal) => protocol.cancel?.(sessionId, signal))
      return { sessionId, failure: await ended.then(nothing, asError) }
    }),
  )
}

const nothing = (): undefined => undefined
const asError = (reason: unknown): Error => asOurs(reason, 'ERR_UPLOAD_INTERNAL', 'The session could not be ended')
