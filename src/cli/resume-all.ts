// Resumes sessions of the journal one after another. A session that waits for an unreachable host goes on in the background:
// a dead storage must not hold up the sessions of other hosts for as long as --give-up-after says.

import type { ErrorSummary } from '../core/errors.ts'
import { given } from '../core/given.ts'
import { formatBytes } from '../core/plan.ts'
import type { ResumeOptions, SessionSummary } from '../flows/sessions.ts'
import type { Uplink } from '../uplink.ts'
import { interruptible, type CommandContext } from './command-context.ts'
import type { KeptSessions } from './kept-sessions.ts'
import type { SharedOptions } from './options/options.ts'
import { ofOne, writeReceipt } from './receipt-file.ts'
import { followUpload, type FollowedUpload } from './run-upload.ts'
import { printResult, type UploadResult } from './upload-result.ts'
import { voiceOf } from './views/change-lines.ts'
import { errorLine } from './views/error-line.ts'
import { commandLine } from './views/command-line.ts'
import { sayHowToForget, sayHowToGoOn } from './views/how-to-go-on.ts'
import type { Output } from './views/output.ts'

export interface ResumeTask {
  readonly sessions: readonly SessionSummary[]
  /** Whether a session is one of many, so that the result of all follows its own. */
  readonly isOneOfMany: boolean
  readonly kept: KeptSessions
  readonly uplink: Uplink
  readonly options: SharedOptions
  /** Finds files that are no longer where they were. */
  readonly source?: ResumeOptions['source']
}

/** How many sessions may run at a time, each with its ledger in memory. Beyond that, the next one waits until any of them ends. */
const MOST_AT_A_TIME = 64

interface Behind {
  readonly upload: FollowedUpload
  readonly ended: Promise<UploadResult>
}

/** Resolves with the results in the order of the sessions. After a signal, sessions that were not resumed have none. */
export async function resumeAll(context: CommandContext, output: Output, task: ResumeTask): Promise<UploadResult[]> {
  const { sessions, kept } = task
  const taken: Promise<UploadResult>[] = []
  const behind = new Map<string, Behind>()
  for (const session of sessions) {
    if (context.interruption.reason !== undefined) break
    const { key } = session
    if (sessions.length > 1) output.say(`Session ${key} (${taken.length + 1} of ${sessions.length})`)
    const upload = await takeUp(context, output, task, session)
    if (upload === undefined) break
    if (!('waits' in upload)) {
      taken.push(tellEnd(context, output, task, { session, result: upload, bytesBefore: 0 }))
      continue
    }
    const end = (result: UploadResult) =>
      tellEnd(context, output, task, { session, result, bytesBefore: upload.bytesBefore() })
    const ended = upload.result.then(end).finally(() => behind.delete(key))
    behind.set(key, { upload, ended })
    taken.push(ended)
    const isLast = taken.length === sessions.length
    const isFull = behind.size >= MOST_AT_A_TIME
    await Promise.race(isLast ? [ended] : isFull ? [...behind.values()].map((one) => one.ended) : [ended, upload.waits])
    if (!behind.has(key)) continue
    upload.hide()
    output.say(`Session ${key} waits; the next one goes on meanwhile.`)
  }
  for (const { upload, ended } of behind.values()) {
    upload.show()
    await ended
  }
  const results = await Promise.all(taken)
  if (context.interruption.reason !== undefined) await kept.close()
  return results
}

/**
 * Resumes one session. If that is impossible, it counts as failed, so that the others are tried too. Undefined after a signal: of a
 * session that is confirmed, the service may still have to be told something, and a drive may not answer.
 */
async function takeUp(
  { interruption }: CommandContext,
  output: Output,
  { uplink, sessions, source }: ResumeTask,
  { key, flow, sessionId, bytes, error: unreadable }: SessionSummary,
): Promise<FollowedUpload | UploadResult | undefined> {
  const failed = (error: ErrorSummary): UploadResult => {
    const known = { flow: flow ?? null, sessionId: sessionId ?? null, bytes }
    return { ...known, status: 'failed', key, durationMs: 0, files: [], error }
  }
  if (unreadable !== undefined) return failed(unreadable)
  try {
    const upload = await interruptible(uplink.resume(key, given({ source })), interruption)
    const { confirmedBytes, totalBytes, filesTotal } = upload.progress()
    output.event('start', { flow: upload.flow, key, files: filesTotal, bytes: totalBytes, confirmedBytes })
    const name = sessions.length > 1 ? key : undefined
    voiceOf(output, name).say(`${formatBytes(confirmedBytes)} of ${formatBytes(totalBytes)} are there already`)
    return followUpload(upload, { output, uplink, interruption, ...given({ name }) })
  } catch (error) {
    return interruption.signal.aborted ? undefined : failed(errorLine(error))
  }
}

interface Ended {
  readonly session: SessionSummary
  readonly result: UploadResult
  /** Of the bytes that are confirmed, those that no longer had to be sent. */
  readonly bytesBefore: number
}

async function tellEnd(
  { env, interruption }: CommandContext,
  output: Output,
  { sessions, isOneOfMany, kept, options }: ResumeTask,
  { session, result, bytesBefore }: Ended,
): Promise<UploadResult> {
  printResult(output, result, { event: isOneOfMany ? 'ended' : 'result', bytesBefore })
  const own = ofOne(options, session.key, sessions.length)
  const at = { options: own, env, journal: kept.journal }
  if (session.error !== undefined) sayHowToForget(output, session.key, own, env)
  else if (isKeptFromUs(result, session)) output.complain(`To finish: ${commandLine('resume', session.key, own, env)}`)
  else await sayHowToGoOn(output, result, at)
  if (own.receipt !== undefined) await writeReceipt(own.receipt, session.key, output, at, interruption)
  return result
}

/** Whether its journal could not be opened now: another process has it, or the disk refused a lock. */
function isKeptFromUs({ files, error }: UploadResult, { status }: SessionSummary): boolean {
  const isGivenUp = status === 'cancelling' || status === 'cancelled'
  return !isGivenUp && files.length === 0 && error?.code === 'ERR_UPLOAD_JOURNAL'
}
