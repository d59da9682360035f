// Follows one analysis for a person or a script until it is over, its deadline has passed or a signal arrives.

import type { RequestedAnalysis } from '../client/contract.ts'
import { isUploadError, type ErrorSummary } from '../core/errors.ts'
import type { Analysis } from '../flows/analysis.ts'
import { AnalysisFailedError, type AnalysisReport } from '../flows/analysis-report.ts'
import { isDraft } from '../flows/polling.ts'
import { outageTeller } from './views/change-lines.ts'
import { errorLine, fullLine } from './views/error-line.ts'
import { outageFields } from './views/json-lines.ts'
import { inWords } from './views/operation-words.ts'
import { EXIT, SIGNAL_EXIT } from './exit-codes.ts'
import type { Output } from './views/output.ts'
import type { Interruption } from './signals.ts'
import { formatDuration } from './views/wording.ts'

/** The state of an analysis, in the words of `--json`. */
export type AnalysisWord = 'draft' | 'requested' | 'completed' | 'failed' | 'interrupted'

export interface AnalysisResult {
  readonly status: AnalysisWord
  readonly serviceStatus: string | null
  readonly analysisId: string | number | null
  readonly name?: string
  readonly segmentIds?: AnalysisReport['segmentIds']
  readonly durationMs: number
  /** Present and true if the wait ended before the analysis did. */
  readonly hasDeadlinePassed?: true
  /** Present and true if the service may have made the analysis but its id is unknown. */
  readonly hasPossibleDraft?: true
  readonly error?: ErrorSummary
}

const WORDS: Readonly<Record<AnalysisReport['status'], AnalysisWord>> = {
  drafted: 'draft',
  completed: 'completed',
  failed: 'failed',
  deadline: 'requested',
  stopped: 'interrupted',
}
/** These states are not printed, because the result on the next line reports the end. */
const IS_ENDING: ReadonlySet<string> = new Set(Object.keys(WORDS))
const STOP_WITHIN_MS = 5_000

/** Reports the analysis as it proceeds. A failed analysis is a result: rejects only if the program itself is at fault. */
export async function followAnalysis(
  analysis: Analysis,
  { output, interruption }: { readonly output: Output; readonly interruption: Interruption },
): Promise<AnalysisResult> {
  analysis.on('state', ({ state }) => {
    output.event('state', { state })
    if (!IS_ENDING.has(state)) output.say(`analysis: ${wordsOf(state)}`)
  })
  analysis.on('status', ({ serviceStatus }) => {
    output.event('state', { state: analysis.state, serviceStatus })
    output.say(`analysis: the service says ${serviceStatus}`)
  })
  const sayOutage = outageTeller((text) => output.say(text))
  analysis.on('waiting', (outage) => {
    output.event('waiting', outageFields(outage))
    sayOutage(outage)
  })
  analysis.on('warning', (warning) => {
    output.event('warning', { ...warning })
    output.complain(`warning: ${inWords(warning.message)}`)
  })
  const ended = analysis.done().catch((error: unknown) => {
    if (!(error instanceof AnalysisFailedError)) throw error
    const { report } = error
    return report.error === undefined ? report : { ...report, error: errorLine(error) }
  })
  const first = await Promise.race([ended, interruption.happened])
  if (typeof first === 'object') return resultOf(first)
  analysis.stop()
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), STOP_WITHIN_MS)))
  const report = await Promise.race([ended, tooLong])
  clearTimeout(timer)
  if (report !== undefined) return resultOf(report)
  const unknown = { serviceStatus: null, analysisId: null, hasPossibleDraft: true } as const
  return { status: 'interrupted', ...unknown, durationMs: STOP_WITHIN_MS }
}

/** Submits a draft. A failure of that is a result too, because a bare error would not name the draft's id. */
export async function submitted(
  draft: AnalysisResult,
  submit: () => Promise<RequestedAnalysis>,
  { signal }: Interruption,
): Promise<AnalysisResult> {
  try {
    const { status = null } = await submit()
    return { ...draft, status: 'requested', serviceStatus: status }
  } catch (error) {
    if (signal.aborted) return { ...draft, status: 'interrupted' }
    if (!isUploadError(error)) throw error
    return { ...draft, status: 'failed', error: errorLine(error) }
  }
}

function resultOf(report: AnalysisReport): AnalysisResult {
  const { status, serviceStatus = null, analysisId = null, segmentIds, durationMs, hasPossibleDraft, error } = report
  const isLateDraft = status === 'deadline' && isDraft(serviceStatus ?? '')
  return {
    status: isLateDraft ? 'draft' : WORDS[status],
    serviceStatus,
    analysisId,
    durationMs: Math.round(durationMs),
    ...(segmentIds === undefined ? {} : { segmentIds }),
    ...(status === 'deadline' ? { hasDeadlinePassed: true } : {}),
    ...(hasPossibleDraft ? { hasPossibleDraft } : {}),
    ...(error === undefined ? {} : { error }),
  }
}

/**
 * Prints the result in the contract's form. An analysis has no files, so those fields are empty. `lineOf` makes a command about
 * analyses that can be pasted.
 */
export function printAnalysisResult(
  output: Output,
  result: AnalysisResult,
  lineOf: (...words: (string | number)[]) => string,
): void {
  output.event('result', { flow: 'analysis', key: null, sessionId: null, bytes: 0, files: [], ...result })
  const { status, serviceStatus, analysisId, durationMs, error } = result
  if (error !== undefined) output.complain(`error: ${fullLine(error)}`)
  const ids = analysisId === null ? [] : [analysisId]
  const watch = `To wait further: ${lineOf('watch', ...ids)}`
  if (isDraft(serviceStatus ?? '') && (status !== 'draft' || result.hasDeadlinePassed)) {
    output.complain(
      `The service had it as a draft and does nothing before that is submitted: ${lineOf('submit', ...ids)}`,
    )
  } else if (result.hasDeadlinePassed) output.complain(`The deadline has passed and the service goes on. ${watch}`)
  else if (status === 'interrupted') {
    if (analysisId !== null) output.complain(`Stopped waiting; what the service does goes on. ${watch}`)
    else if (result.hasPossibleDraft)
      output.complain(`It may have been made. Look for its name before it is asked for again: ${lineOf('list')}`)
    else output.complain('No analysis was begun: run the command again.')
  }
  const word = serviceStatus === null ? '' : `, the service says ${serviceStatus}`
  output.answer(`${[`${status}: analysis`, ...ids].join(' ')}${word}, after ${formatDuration(durationMs)}`)
}

/** The exit code of a result. It is 0 also for a draft, for `requested` and after the deadline, because nothing has failed. */
export function analysisExitCode(result: AnalysisResult, { reason }: Interruption): number {
  if (result.status === 'interrupted') return SIGNAL_EXIT[reason ?? 'SIGINT']
  if (result.status !== 'failed') return EXIT.done
  return result.error?.code === 'ERR_UPLOAD_CREDENTIALS_REFUSED' ? EXIT.refused : EXIT.failed
}

/** `creatingSegments` → `creating segments`. */
function wordsOf(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
