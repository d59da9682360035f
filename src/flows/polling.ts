// Polls an analysis politely until the service's word is final or the time is up.

import type { RequestedAnalysis } from '../client/contract.ts'
import { checkFields, listOf, optional } from '../client/check-fields.ts'
import { checkInteger, checkText } from '../client/checks.ts'
import { createTimeLimit } from '../core/time/time-limit.ts'
import { isUploadError, known, summarize, UploadError, type ErrorSummary } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { Clock } from '../core/ports.ts'
import { sleep } from '../core/time/sleep.ts'
import type { PollResult } from '../machines/analysis-data.ts'

export interface PollingOptions {
  /** How long to wait at most, ms: an integer of 0 or more, whatever the time of day is set to meanwhile. Default 5 h. */
  readonly deadlineMs?: number | undefined
  /**
   * Waits between questions, ms, each an integer of 0 or more; the last one repeats. At least one. Default: 1 minute, 2 minutes,
   * then every 5 minutes.
   */
  readonly pollDelaysMs?: readonly number[] | undefined
  /** The service's words for done, in any case. Assumption: the interface does not show them. Default: those of DEFAULT_POLLING. */
  readonly completedStatuses?: readonly string[] | undefined
  /** The service's words for failed. The same assumption, and default. */
  readonly failedStatuses?: readonly string[] | undefined
}

/** A question that begins near the deadline, or after it, still gets this much time, ms. */
const LAST_QUESTION_MS = 60_000
/**
 * One in which the machine slept past the deadline gets this much more, ms: enough for the end of a try that the sleep broke, for the
 * client's longest pause, and for another try.
 */
const AWAKE_AGAIN_MS = 300_000

// The numbers are written out: bundlers treat a product as a side effect, and pages without an analysis would load the table.
/** The defaults of PollingOptions. */
export const DEFAULT_POLLING = /* @__PURE__ */ Object.freeze({
  deadlineMs: 18_000_000,
  pollDelaysMs: /* @__PURE__ */ Object.freeze([60_000, 120_000, 300_000]),
  completedStatuses: /* @__PURE__ */ Object.freeze([
    'complete',
    'completed',
    'done',
    'finished',
    'processed',
    'ready',
    'success',
    'succeeded',
  ]),
  failedStatuses: /* @__PURE__ */ Object.freeze([
    'failed',
    'failure',
    'error',
    'errored',
    'rejected',
    'cancelled',
    'canceled',
  ]),
})

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for a wrong option, which would else be found out when the analysis is already requested. */
export function checkPolling(options: PollingOptions): void {
  const checkWords = optional(listOf(checkText, { least: 0 }))
  checkFields<PollingOptions>(options, {
    deadlineMs: optional(checkInteger),
    pollDelaysMs: optional(listOf(checkInteger)),
    completedStatuses: checkWords,
    failedStatuses: checkWords,
  })
}

/** What a word of the service means; undefined if it is not final. */
export function verdictOf(serviceStatus: string, options: PollingOptions): 'completed' | 'failed' | undefined {
  const word = serviceStatus.trim().toLowerCase()
  const { completedStatuses, failedStatuses } = { ...DEFAULT_POLLING, ...given(options) }
  if (completedStatuses.some((status) => status.toLowerCase() === word)) return 'completed'
  return failedStatuses.some((status) => status.toLowerCase() === word) ? 'failed' : undefined
}

/** Whether a word of the service means that nobody has submitted the analysis. */
export function isDraft(serviceStatus: string): boolean {
  return serviceStatus.trim().toLowerCase() === 'draft'
}

/**
 * Asks at once, then after each wait. A question that gets no answer is asked again at the next turn. So is one answered by somebody
 * else, such as a network's sign-in page, but only if the service has answered before. If it stays so to the end, the deadline's result
 * says it. A refusal rejects, and so does a service that was never reached. Rejects with the signal's reason when stopped.
 */
export async function pollAnalysis(
  clock: Clock,
  get: (signal: AbortSignal) => Promise<RequestedAnalysis>,
  options: PollingOptions,
  signal: AbortSignal,
  onStatus: (serviceStatus: string) => void,
  /** Whether the service has answered a call of this analysis. */
  hasAnswered = false,
): Promise<PollResult> {
  const { deadlineMs, pollDelaysMs } = { ...DEFAULT_POLLING, ...given(options) }
  const endsAtMs = clock.monotonicNow() + deadlineMs
  const leftMs = (): number => endsAtMs - clock.monotonicNow()
  let serviceStatus: string | undefined
  let failure: ErrorSummary | undefined
  for (let turn = 0; ; turn += 1) {
    // For as long as there is time: the client would ask an absent service for as long as the service is waited for.
    const limitMs = Math.max(leftMs(), LAST_QUESTION_MS)
    const question = createTimeLimit(clock, limitMs, unanswered, signal, AWAKE_AGAIN_MS)
    try {
      const { status } = await get(question.signal)
      hasAnswered = true
      failure = undefined
      if (status !== undefined && status !== serviceStatus) onStatus(status)
      serviceStatus = status ?? serviceStatus
    } catch (error) {
      if (!isPassing(error, hasAnswered)) throw error
      failure = summarize(error)
    } finally {
      question.end()
    }
    const verdict = verdictOf(serviceStatus ?? '', options)
    if (verdict) return { verdict }
    if (leftMs() <= 0) return { verdict: 'deadline', ...given({ error: failure }) }
    await sleep(clock, Math.min(known(pollDelaysMs[Math.min(turn, pollDelaysMs.length - 1)]), leftMs()), signal)
  }
}

function unanswered(): UploadError {
  return new UploadError('ERR_UPLOAD_TIMEOUT', 'The service gave no answer until the deadline.', { isRetryable: true })
}

/** Whether the service will be back. One that was never reached, and was not waited for, is more likely misspelt. */
function isPassing(error: unknown, hasAnswered: boolean): boolean {
  if (!isUploadError(error)) return false
  const { isBaseUrlDoubtful, forMs } = error.details
  if (error.isRetryable) return isBaseUrlDoubtful !== true || forMs !== undefined
  return hasAnswered && /_(?:SERVICE_REPLY|REDIRECT_REFUSED)$/.test(error.code)
}
