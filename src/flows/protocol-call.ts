// A call of the protocol, which the host may have written. Its waits are reported, and a call that never ends is abandoned.

import { withDetails } from '../core/errors.ts'
import { onAbort } from '../core/on-abort.ts'
import type { OnWaiting } from '../core/ports.ts'
import { createTimeLimit } from '../core/time/time-limit.ts'
import { timeout } from '../core/time/within-time.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import type { DrivenSession } from './driven-session.ts'

/** How long a call may neither end nor report that it waits, ms. */
const SILENT_MS = 3_600_000
/** How long a call may take to end once its signal has fired, ms. */
const ENDING_MS = 30_000
const SILENT = 'The protocol gave no answer for 1 h.'
/** How long the answer to a try under way is waited for once its signal has fired, ms. Less than the 5 s in which a command ends. */
const ANSWER_MS = 4_000

/**
 * Makes the call, unless the signal has fired already, and reports at its end that its waits are over. Rejects with
 * ERR_UPLOAD_TIMEOUT when the call is abandoned; its answer is lost then. If the signal fired before the call was made, or while it
 * rested after tries that did not get through, or if the call says so by `onUnheard`, nobody can have heard of it:
 * `details.isDoubtful` of the error is then false. Where the signal ended the call at another time, it is true.
 *
 * A call that had better not be made twice takes the signal `lasting`: a try that is under way when the other one fires may
 * still be answered, for a few seconds. No further one begins.
 */
export async function callProtocol<T>(
  { clock, report }: Pick<DrivenSession, 'clock' | 'report'>,
  signal: AbortSignal,
  call: (onWaiting: OnWaiting, lasting: AbortSignal, onUnheard: () => void) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw withDetails(signal.reason, { isDoubtful: false })
  const limit = createTimeLimit(clock, SILENT_MS, () => timeout(SILENT))
  const lasting = new AbortController()
  const end = (): void => lasting.abort(signal.reason)
  let isAtRest = false
  let isUnheard = false as boolean
  let answerTimer: unknown
  const onWaiting: OnWaiting = (wait) => {
    // It is over, or was given up.
    if (lasting.signal.aborted) return
    isAtRest = wait !== undefined
    isUnheard = wait?.isDoubtful === false
    // A call that was told to end gets no more time by reporting a wait.
    if (!signal.aborted) limit.restart(SILENT_MS)
    // These fields come last, since what the host reports may have fields of the same names.
    report(wait ? { ...wait, type: 'unreachable', call } : { type: wait === null ? 'reachable' : 'tried', call })
    // Who heard of it may just have said so.
    if (signal.aborted) end()
  }
  const onUnheard = (): void => {
    isUnheard = true
    end()
  }
  const leave = onAbort(signal, () => {
    limit.restart(ENDING_MS)
    if (isAtRest) end()
    else answerTimer = clock.setTimeout(end, ANSWER_MS)
  })
  try {
    return await unlessAborted(call(onWaiting, lasting.signal, onUnheard), limit.signal)
  } catch (error) {
    const isInVain = isUnheard && lasting.signal.aborted
    // The signal's reason may be how the call of another ended, and what that says of itself does not hold for this one.
    throw isInVain || error === signal.reason ? withDetails(error, { isDoubtful: !isInVain }) : error
  } finally {
    end()
    limit.end()
    leave()
    clock.clearTimeout(answerTimer)
    report({ type: 'reachable', call })
  }
}
