// Asks politely for an analysis until the service's word is final or the time is up.

import type { RequestedAnalysis } from '../client/contract.ts'
import { isUploadError, UploadError } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { Clock } from '../core/ports.ts'
import { sleep } from '../core/time/sleep.ts'

export interface PollingOptions {
  /** How long to wait at most, ms. Default 5 h. */
  readonly deadlineMs?: number
  /** Waits before each question, ms; the last one repeats. Default: 1, 2, then every 5 minutes. */
  readonly pollDelaysMs?: readonly number[]
  /** The service's words for done. Assumption, its words are not shown; compared without case. */
  readonly completedStatuses?: readonly string[]
  /** The service's words for failed. Assumption likewise. */
  readonly failedStatuses?: readonly string[]
}

const LONGEST_PAUSE_MS = 300_000
const LAST_QUESTION_MS = 60_000

/** Numbers written out: a product counts as an effect, and pages without an analysis would load the table all the same. */
export const DEFAULT_POLLING = /* @__PURE__ */ Object.freeze({
  deadlineMs: 18_000_000,
  pollDelaysMs: /* @__PURE__ */ Object.freeze([60_000, 120_000, LONGEST_PAUSE_MS]),
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

export interface PollOutcome {
  /** The service's last word; absent where it said none. */
  readonly serviceStatus?: string
  readonly verdict: 'completed' | 'failed' | 'deadline'
}

/** What a word of the service means; undefined: not final. */
export function verdictOf(serviceStatus: string, options: PollingOptions): 'completed' | 'failed' | undefined {
  const word = serviceStatus.trim().toLowerCase()
  const { completedStatuses, failedStatuses } = { ...DEFAULT_POLLING, ...given(options) }
  if (completedStatuses.some((status) => status.toLowerCase() === word)) return 'completed'
  return failedStatuses.some((status) => status.toLowerCase() === word) ? 'failed' : undefined
}

/**
 * Asks first at once, then after each wait. A question that fails for want of an answer is asked again at the next turn; so is
 * one that is answered by somebody else, such as the sign-in page of a network, where the service has answered before. A refusal
 * rejects. Rejects with the signal's reason when stopped.
 */
export async function pollAnalysis(
  clock: Clock,
  get: (signal: AbortSignal) => Promise<RequestedAnalysis>,
  options: PollingOptions,
  signal: AbortSignal,
  onStatus: (serviceStatus: string) => void,
): Promise<PollOutcome> {
  const { deadlineMs, pollDelaysMs } = { ...DEFAULT_POLLING, ...given(options) }
  const endsAtMs = clock.wallNow() + deadlineMs
  let serviceStatus: string | undefined
  let hasAnswered = false
  for (let turn = 0; ; turn += 1) {
    try {
      const { status } = await ask(clock, get, endsAtMs - clock.wallNow(), signal)
      hasAnswered = true
      if (status !== undefined && status !== serviceStatus) onStatus(status)
      serviceStatus = status ?? serviceStatus
    } catch (error) {
      if (signal.aborted || !isPassing(error, hasAnswered)) throw error
    }
    const verdict = verdictOf(serviceStatus ?? '', options)
    if (verdict !== undefined) return { ...given({ serviceStatus }), verdict }
    const askedMs = pollDelaysMs[Math.min(turn, pollDelaysMs.length - 1)] ?? NaN
    // A wait that is no number would be none, and the service be asked without a pause.
    const delayMs = askedMs >= 0 ? askedMs : LONGEST_PAUSE_MS
    const leftMs = endsAtMs - clock.wallNow()
    if (!(leftMs > 0)) return { ...given({ serviceStatus }), verdict: 'deadline' }
    await sleep(clock, Math.min(delayMs, leftMs), signal)
  }
}

/**
 * One question, until the time is up: a service that is away would be asked for as long as it is waited for. One that begins
 * at the end has a minute. Its failure then is one that passes, and the loop ends.
 */
async function ask(
  clock: Clock,
  get: (signal: AbortSignal) => Promise<RequestedAnalysis>,
  leftMs: number,
  signal: AbortSignal,
): Promise<RequestedAnalysis> {
  const question = new AbortController()
  const stop = (): void => question.abort(signal.reason)
  const late = new UploadError('ERR_UPLOAD_TIMEOUT', 'The time is up.', { isRetryable: true })
  const timer = clock.setTimeout(() => question.abort(late), leftMs > LAST_QUESTION_MS ? leftMs : LAST_QUESTION_MS)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    return await get(question.signal)
  } finally {
    clock.clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** The service will be there again. */
function isPassing(error: unknown, hasAnswered: boolean): boolean {
  return (
    isUploadError(error) &&
    (error.isRetryable || (hasAnswered && /_(?:SERVICE_REPLY|REDIRECT_REFUSED)$/.test(error.code)))
  )
}
