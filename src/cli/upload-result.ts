// How an upload ended: the last line of `--json`, the words for a person, and the exit code.

import type { ErrorSummary } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { FinalStatus, FlowName } from '../core/journal/journal.ts'
import { formatBytes } from '../core/plan.ts'
import type { FileReport, Upload, UploadFileStatus, UploadReport } from '../flows/upload.ts'
import { fullLine, reasonOf, tellingOnce, withAdvice } from './views/error-line.ts'
import { EXIT, SIGNAL_EXIT, type StopSignal } from './exit-codes.ts'
import type { Output } from './views/output.ts'
import { countOf, formatDuration, formatRate } from './views/wording.ts'

export interface UploadResult {
  /** Null if the session's journal cannot be read. */
  readonly flow: FlowName | null
  readonly status: FinalStatus | 'interrupted'
  readonly key: string
  readonly sessionId: string | number | null
  readonly bytes: number
  /** Present unless everything is confirmed: bytes that have a receipt, which a resume does not send again. */
  readonly confirmedBytes?: number
  readonly durationMs: number
  readonly files: readonly FileReport[]
  readonly error?: ErrorSummary
  /** Present if the service may hold a session that nobody uses. */
  readonly hasPossibleOrphan?: true
}

/** How many files are named one by one to a person; the rest is counted. After an interruption, the names say what to send again. */
const NAMED_AT_MOST = 20
const NAMED_AT_MOST_UNFINISHED = 500
/** On a terminal, more names would push everything else out of sight. The command that finishes the files needs no names. */
const NAMED_AT_MOST_ON_TERMINAL = 5

/** The result of an upload from its report. An upload that was let go counts as interrupted. */
export function resultOf(report: UploadReport): UploadResult {
  const { flow, key, sessionId = null, bytes, durationMs, files, error, hasPossibleOrphan } = report
  return {
    flow,
    status: report.status === 'closed' ? 'interrupted' : report.status,
    key,
    sessionId,
    bytes,
    durationMs: Math.round(durationMs),
    files,
    ...given({ error }),
    ...(hasPossibleOrphan ? { hasPossibleOrphan } : {}),
  }
}

/** The result of an upload that has ended: that of its report and, if something is missing, what a resume need not send again. */
export function endedResult(report: UploadReport, upload: Pick<Upload, 'files'>): UploadResult {
  const result = resultOf(report)
  return result.status === 'confirmed' ? result : { ...result, confirmedBytes: keptBytes(upload.files()) }
}

/** Codes of a file whose receipts prove nothing any more, so that all of it has to be sent again. */
const VOID_CODES: readonly unknown[] = ['ERR_UPLOAD_SOURCE_CHANGED', 'ERR_UPLOAD_CONFIRM_REFUSED']

function keptBytes(files: readonly UploadFileStatus[]): number {
  return files.reduce((sum, file) => sum + (VOID_CODES.includes(file.error?.code) ? 0 : file.confirmedBytes), 0)
}

/** The exit code of uploads with this status, of one or of several together. `signal` is what interrupted them. */
export function exitCodeOf(
  status: UploadResult['status'],
  results: readonly UploadResult[],
  signal: StopSignal | undefined,
): number {
  if (status === 'interrupted') return SIGNAL_EXIT[signal ?? 'SIGINT']
  if (status === 'confirmed') return EXIT.done
  const files = results.flatMap((result) => result.files)
  if (files.some((file) => file.status === 'confirmed')) return EXIT.partial
  const codes = [...results, ...files].map(({ error }) => error?.code)
  return codes.includes('ERR_UPLOAD_CREDENTIALS_REFUSED') ? EXIT.refused : EXIT.failed
}

/**
 * The status of several sessions together. Some have no result, because a signal came before they were resumed (`isLeft`), or
 * because another service has them.
 */
export function jointStatus(
  results: readonly UploadResult[],
  { isLeft, areSomeElsewhere }: { readonly isLeft: boolean; readonly areSomeElsewhere: boolean },
): UploadResult['status'] {
  if (isLeft || results.some(({ status }) => status === 'interrupted')) return 'interrupted'
  if (!areSomeElsewhere && results.every(({ status }) => status === 'confirmed')) return 'confirmed'
  return results.some(({ files }) => files.some((file) => file.status === 'confirmed')) ? 'partial' : 'failed'
}

export interface ResultOptions {
  /** The name of the result in JSON. `ended`: one of several sessions, whose lines begin with its key. Default `result`. */
  readonly event?: 'result' | 'ended'
  /** Of the bytes that are confirmed, those that an earlier run delivered, which do not count for the rate. Default 0. */
  readonly bytesBefore?: number
}

/** Prints the result in the mode of the output. */
export function printResult(output: Output, result: UploadResult, options: ResultOptions = {}): void {
  const { event = 'result', bytesBefore = 0 } = options
  output.event(event, { ...result })
  const { files, status } = result
  const name = event === 'ended' ? `${result.key}: ` : ''
  // If the session failed as a whole, its one error says more than the name of every file that was not begun.
  const isWhole = status === 'failed' || status === 'cancelled'
  const others = files.filter((file) => file.status === 'failed' || (file.status === 'unfinished' && !isWhole))
  const most = status === 'interrupted' ? unfinishedNamed(output) : NAMED_AT_MOST
  const reason = tellingOnce((file) => reasonOf(advised(file)))
  for (const file of others.slice(0, most)) {
    output.complain(`${file.status}: ${name}${file.name}${file.error === undefined ? '' : `: ${reason(file)}`}`)
  }
  if (others.length > most) output.complain(`${name}and ${countOf(others.length - most, 'more file')}`)
  const isSaid = others.some((file) => file.error?.message === result.error?.message)
  if (result.error !== undefined && !isSaid) output.complain(`error: ${name}${fullLine(result.error)}`)
  if (result.hasPossibleOrphan === true) {
    output.complain(`warning: ${name}a create had no clear answer, so the service may hold a session that nobody uses.`)
  }
  output.answer(summaryLine(result, bytesBefore, name))
}

function unfinishedNamed({ mode }: Output): number {
  return mode === 'terminal' ? NAMED_AT_MOST_ON_TERMINAL : NAMED_AT_MOST_UNFINISHED
}

/** The file with what to do in its error's message. */
function advised({ name, error }: Pick<FileReport, 'name' | 'error'>): Pick<FileReport, 'name' | 'error'> {
  return error === undefined ? { name } : { name, error: { ...error, message: withAdvice(error) } }
}

function summaryLine(result: UploadResult, bytesBefore: number, name: string): string {
  const { status, files, durationMs, sessionId, confirmedBytes = 0 } = result
  const session = sessionId === null ? '' : `, session ${sessionId}`
  if (files.length === 0) return `${status}: ${name}nothing was sent${session}`
  const confirmed = files.filter((file) => file.status === 'confirmed')
  const verified = confirmed.filter((file) => file.verified).length
  const bytes = confirmed.reduce((sum, file) => sum + file.bytes, 0)
  const now = bytes - bytesBefore
  const rate = durationMs > 0 && now > 0 ? ` (${formatRate((now / durationMs) * 1000)})` : ''
  const earlier = now === 0 ? 'all of it before' : `${formatBytes(now)} of it now`
  const amount = now < bytes ? `${formatBytes(bytes)}, ${earlier},` : formatBytes(bytes)
  const what = confirmed.length === 0 ? 'after' : `${verified} verified, ${amount} in`
  const there = confirmedBytes > bytes ? `, ${formatBytes(confirmedBytes)} of ${formatBytes(result.bytes)} stored` : ''
  return (
    `${status}: ${name}${confirmed.length} of ${countOf(files.length, 'file')} confirmed, ` +
    `${what} ${formatDuration(durationMs)}${rate}${there}${session}`
  )
}
