// Tells the service which sessions nobody needs any more: all of an upload that is given up, and those that were left empty
// when their addresses died. What it could not be told stays in the journal, and is told by a later life.

import { HttpStatusError } from '../core/errors.ts'
import { sessionsOf } from '../core/journal/fold-journal.ts'
import type { Clock, Protocol } from '../core/ports.ts'
import { createTimeLimit } from '../core/time/time-limit.ts'
import type { SessionRecord } from './session-record.ts'

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
 * All of them, those included that hold confirmed files: whoever cancels gives the whole upload up, wherever its files went
 * when addresses died. `wasCancelAsked`: an earlier life may have told the service without hearing its answer.
 */
export async function endAllSessions(
  { record, protocol, clock }: EndSessionsOptions,
  wasCancelAsked: boolean,
): Promise<{ readonly isServiceTold: boolean; readonly failure?: unknown }> {
  if (protocol.cancel === undefined) return { isServiceTold: false }
  const newest = record.folded()?.sessionId
  const limit = createTimeLimit(clock, CANCEL_WITHIN_MS, TOO_LATE)
  const told = sessionsOf(record.folded()).map(async (sessionId) => {
    try {
      await protocol.cancel?.(sessionId, limit.signal)
    } catch (error) {
      // Whoever finds the session gone after such a try has cancelled it, and one that was left may have been ended then.
      // Without either the address may be wrong.
      if (!isGone(error) || (sessionId === newest && !wasCancelAsked)) throw error
    }
  })
  try {
    const failed = (await Promise.allSettled(told)).find((outcome) => outcome.status === 'rejected')
    return failed === undefined ? { isServiceTold: true } : { isServiceTold: false, failure: failed.reason }
  } finally {
    limit.end()
  }
}

/**
 * Those that hold no file any more. Each that the service was told of is journalled as ended; the others are given back.
 * Rejects only when the journal does.
 */
export async function endLeftSessions({
  record,
  protocol,
  clock,
}: EndSessionsOptions): Promise<readonly (string | number)[]> {
  const left = record.folded()?.leftSessionIds ?? []
  if (left.length === 0) return []
  const limit = createTimeLimit(clock, END_LEFT_WITHIN_MS, TOO_LATE)
  const isEnded = (sessionId: string | number): Promise<boolean> =>
    Promise.resolve(protocol.cancel?.(sessionId, limit.signal)).then(() => true, isGone)
  try {
    const answers = await Promise.all(left.map(isEnded))
    const ended = left.filter((_, index) => answers[index] === true)
    for (const sessionId of ended) await record.write({ type: 'session.ended', sessionId })
    return left.filter((sessionId) => !ended.includes(sessionId))
  } finally {
    limit.end()
  }
}

function isGone(error: unknown): boolean {
  return error instanceof HttpStatusError && (error.status === 404 || error.status === 410)
}
