// Follows one analysis for a person or a script until it is over, its deadline has passed or a signal arrives.

import type { RequestedAnalysis } from '../client/contract.ts'
import type { CallOptions } from '../client/operations.ts'
import { isUploadError, type ErrorSummary } from '../core/errors.ts'
import { given } from '../core/given.ts'
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
import { isDoubtful, mayBeDone } from './unclear-end.ts'
import { waitingCall } from './views/waiting-call.ts'
import { formatDuration } from './views/wording.ts'

/** The state of an analysis, in the words of `--json`. */
export type AnalysisWord = 'draft' | 'requested' | 'completed' | 'failed' | 'interrupted'

export type KnownSegments = Partial<NonNullable<AnalysisReport['segmentIds']>>

export interface AnalysisResult {
  readonly status: AnalysisWord
  readonly serviceStatus: string | null
  readonly analysisId: string | number | null
  readonly name?: string
  /** Those that are known to exist. */
  readonly segmentIds?: KnownSegments
  readonly durationMs: number
  /** Present and true if the wait ended before the analysis did. */
  readonly hasDeadlinePassed?: true
  /** Present and true if the service may have made the analysis but its id is unknown. */
  readonly hasPossibleDraft?: true
  /** Present and true if the service may have made a segment whose id is unknown. */
  readonly hasPossibleSegment?: true
  /** Present and true if the service may have begun the analysis although the submit has no answer. */
  readonly hasPossibleSubmit?: true
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

/** Reports the analysis as it proceeds. A failed analysis is a result: rejects only if the program itself is at fault. */
export async function followAnalysis(
  analysis: Analysis,
  { output, interruption }: { readonly output: Output; readonly interruption: Interruption },
): Promise<AnalysisResult> {
  let lastStep = analysis.state
  analysis.on('state', ({ state }) => {
    output.event('state', { state })
    if (IS_ENDING.has(state)) return
    lastStep = state
    output.say(`analysis: ${wordsOf(state)}`)
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
    const message = inWords(warning.message)
    output.event('warning', { ...warning, message })
    output.complain(`warning: ${message}`)
  })
  let isUnclearSubmit = false
  const ended = analysis.done().catch((error: unknown) => {
    if (!(error instanceof AnalysisFailedError)) throw error
    const { report } = error
    isUnclearSubmit = lastStep === 'submitting' && isDoubtful(error)
    // The error of the whole analysis does not say where it happened, such as the status; its cause does.
    return report.error === undefined ? report : { ...report, error: errorLine(error.cause ?? error) }
  })
  const first = await Promise.race([ended, interruption.happened])
  isUnclearSubmit ||= typeof first !== 'object' && analysis.state === 'submitting'
  analysis.stop()
  return { ...resultOf(await ended), ...(isUnclearSubmit ? { hasPossibleSubmit: true } : {}) }
}

/** Submits a draft. A failure of that is a result too, because a bare error would not name the draft's id. */
export async function submitted(
  draft: AnalysisResult,
  submit: (calling: CallOptions) => Promise<RequestedAnalysis>,
  { output, interruption }: { readonly output: Output; readonly interruption: Interruption },
): Promise<AnalysisResult> {
  const calling = waitingCall(output, interruption)
  try {
    const { status = null } = await submit(calling)
    return { ...draft, status: 'requested', serviceStatus: status }
  } catch (error) {
    const known = mayBeDone(error, calling, interruption) ? { ...draft, hasPossibleSubmit: true as const } : draft
    if (interruption.signal.aborted) return { ...known, status: 'interrupted' }
    if (!isUploadError(error)) throw error
    return { ...known, status: 'failed', error: errorLine(error) }
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
    ...given({
      segmentIds,
      hasDeadlinePassed: status === 'deadline' || undefined,
      hasPossibleDraft: hasPossibleDraft || undefined,
      error,
    }),
  }
}

/** Commands about analyses that can be pasted. */
export interface AnalysisLines {
  line(...words: (string | number)[]): string
  /** Asks for the analysis once more, with the segments that exist. Absent if the command made none. */
  again?(segments: KnownSegments): string
}

/** Prints the last line of `--json` in the contract's form. An analysis has no files, so those fields are empty. */
export function printResultLine(output: Output, result: AnalysisResult): void {
  output.event('result', { flow: 'analysis', key: null, sessionId: null, bytes: 0, files: [], ...result })
}

/** Prints the result. */
export function printAnalysisResult(output: Output, result: AnalysisResult, lines: AnalysisLines): void {
  printResultLine(output, result)
  const { status, serviceStatus, analysisId, durationMs, error } = result
  if (error !== undefined) output.complain(`error: ${fullLine(error)}`)
  const ids = analysisId === null ? [] : [analysisId]
  const watch = `To wait further: ${lines.line('watch', ...ids)}`
  const submit = `does nothing before that is submitted: ${lines.line('submit', ...ids)}`
  if (result.hasPossibleSubmit) {
    output.complain(`The submit may have arrived. To look: ${lines.line('get', ...ids)}`)
    output.complain(`If it is still a draft, the service ${submit}`)
  } else if (isDraft(serviceStatus ?? '') && (status !== 'draft' || result.hasDeadlinePassed))
    output.complain(`The service had it as a draft and ${submit}`)
  else if (result.hasDeadlinePassed) output.complain(`The deadline has passed and the service goes on. ${watch}`)
  else if (analysisId === null) sayHowToAskAgain(output, result, lines)
  else if (status === 'interrupted') output.complain(`Stopped waiting; what the service does goes on. ${watch}`)
  const word = serviceStatus === null ? '' : `, the service says ${serviceStatus}`
  output.answer(`${[`${status}: analysis`, ...ids].join(' ')}${word}, after ${formatDuration(durationMs)}`)
}

/** Says what there is of an analysis that has no id here, and how to have it after all. */
function sayHowToAskAgain(output: Output, result: AnalysisResult, { line, again }: AnalysisLines): void {
  const { status, segmentIds = {}, hasPossibleDraft, hasPossibleSegment } = result
  const segments = Object.entries(segmentIds).map(([role, id]) => `${role} ${id}`)
  if (hasPossibleDraft)
    output.complain(`It may have been made. Look for its name before it is asked for again: ${line('list')}`)
  if (again !== undefined && segments.length > 0) {
    const what = hasPossibleDraft ? 'If it is not there, ask' : 'No analysis was begun. To ask'
    output.complain(`${what} with the segments that exist (${segments.join(', ')}): ${again(segmentIds)}`)
  } else if (status === 'interrupted' && !hasPossibleDraft)
    output.complain('No analysis was begun: run the command again.')
  if (hasPossibleSegment) output.complain('A segment without an answer may have been made too; nothing uses it.')
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
