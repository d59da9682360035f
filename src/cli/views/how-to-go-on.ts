// The line after an unfinished upload: what is missing, and the one command that finishes it.

import type { ErrorSummary } from '../../core/errors.ts'
import { foldJournal } from '../../core/journal/fold-journal.ts'
import { formatBytes } from '../../core/plan.ts'
import type { Journal } from '../../core/ports.ts'
import type { Environment } from '../options/credentials-from-options.ts'
import type { SharedOptions } from '../options/options.ts'
import { commandLine, forgetLine } from './command-line.ts'
import { isNameRefused, isNameTaken } from './error-line.ts'
import type { Output } from './output.ts'
import type { UploadResult } from '../upload-result.ts'
import { countOf } from './wording.ts'

/** What the commands to go on with say again, and where the session is recorded. */
export interface SessionAt {
  readonly options: SharedOptions
  readonly env: Environment
  readonly journal: Pick<Journal, 'read'>
}

/** Says on stderr how to finish a session. Prints nothing if it is confirmed or cancelled. Never rejects. */
export async function sayHowToGoOn(output: Output, result: UploadResult, at: SessionAt): Promise<void> {
  const { status, files, key } = result
  const { options, env } = at
  if (status === 'confirmed' || status === 'cancelled') return
  if (files.length === 0) {
    if (status === 'interrupted') output.complain('Interrupted before the session began: run the command again.')
    return
  }
  const missing = files.filter((file) => file.status !== 'confirmed')
  const bytes = result.bytes - (result.confirmedBytes ?? 0)
  const amount = bytes > 0 ? formatBytes(bytes) : 'of which nothing is left to send'
  const what = `Missing: ${missing.length} of ${countOf(files.length, 'file')}, ${amount}.`
  if (isRefusedAtOnce(result)) {
    const drop = commandLine('cancel', key, options, env)
    output.complain(`${what} Nothing was begun: correct the command and give it again. To forget this try: ${drop}`)
    return
  }
  const isEachRefused = missing.every(({ error }) => error !== undefined && isNameRefused(error))
  if (isUnknownThere(result, missing) && !(isEachRefused && (await isSessionKnown(result, at)))) {
    sayUnknown(output, what, result, options, env)
    return
  }
  if (isEachRefused && !(await takesTheNames(result, at))) {
    sayRefused(output, what, result, at)
    return
  }
  const changed = missing.filter((file) => file.error?.code === 'ERR_UPLOAD_SOURCE_CHANGED').length
  const anew =
    changed === 0 ? '' : ` Upload the ${changed === 1 ? 'file' : `${changed} files`} that changed as a new session.`
  const resume = isAddressInQuestion(result)
    ? `, with the right address for URL: ${commandLine('resume', key, { ...options, baseUrl: 'URL' }, env)}`
    : `: ${commandLine('resume', key, options, env)}`
  const isUnread = missing.some((file) => file.error?.code === 'ERR_UPLOAD_SOURCE_READ')
  const moved = isUnread && options.filesIn === undefined ? ' (with --files-in FOLDER where files were moved)' : ''
  output.complain(what + anew + (changed === missing.length ? '' : ` To finish${moved}${resume}`))
  const stored = files.length - missing.length
  if (status !== 'interrupted' || stored === 0) return
  const drop = commandLine('cancel --keep-confirmed', key, options, env)
  output.complain(`To keep the ${countOf(stored, 'file')} confirmed and give up the rest: ${drop}`)
}

/** Says what is left when the service refused every name that is missing. */
function sayRefused(output: Output, what: string, { key, sessionId, files }: UploadResult, at: SessionAt): void {
  const { options, env } = at
  if (isEachTaken(files)) output.complain(`${what} A resume would be refused as well.`)
  else {
    const anew = `correct what it names, and give these files again, with --session ${sessionId} into the same session`
    output.complain(`${what} The service would refuse a resume as well: ${anew}.`)
    output.complain(`If the service is corrected instead: ${commandLine('resume', key, options, env)}`)
  }
  output.complain(`To leave it at that: ${commandLine('cancel --keep-confirmed', key, options, env)}`)
}

/**
 * Whether the service knows the session: in this run it opened it, or took names into it. A name that it then does not find is refused
 * for itself.
 */
async function isSessionKnown({ key }: UploadResult, { journal }: SessionAt): Promise<boolean> {
  try {
    const records = await journal.read(key)
    const ofThisRun = records.slice(records.findLastIndex(({ type }) => type === 'session.resumed') + 1)
    // A session that was given is not opened, though its record says so.
    const isOwn = foldJournal(records).params['sessionId'] === undefined
    return ofThisRun.some(({ type }) => type === 'files.registered' || (isOwn && type === 'session.created'))
  } catch {
    return false
  }
}

/**
 * Whether a resume would take names that the service has: those that the session has asked for itself, because a line may deliver a
 * call twice. In a session that was there before they are somebody else's, and the journal says that they were refused.
 */
async function takesTheNames({ key, files }: UploadResult, { journal }: SessionAt): Promise<boolean> {
  if (!isEachTaken(files)) return false
  try {
    return foldJournal(await journal.read(key)).ledger.files.some((file) => file.isRegistering)
  } catch {
    return true
  }
}

function isEachTaken(files: UploadResult['files']): boolean {
  return files.every(({ error }) => error === undefined || isNameTaken(error))
}

function sayUnknown(
  output: Output,
  what: string,
  { key, sessionId }: UploadResult,
  options: SharedOptions,
  env: Environment,
): void {
  const why = 'the service may have been restored from a backup, or be another one'
  output.complain(
    `${what} Session ${sessionId}, or the place of its files, is not known there: ${why}. Nothing that is stored was touched.`,
  )
  output.complain(`Once it is known: ${commandLine('resume', key, options, env)}`)
  const drop = commandLine('cancel', key, options, env)
  output.complain(`If it never is, upload what is missing as a new session, then: ${drop}`)
}

/** Says on stderr what is left to do with a session whose journal cannot be read. */
export function sayHowToForget(
  output: Output,
  key: string,
  options: Pick<SharedOptions, 'stateDir'>,
  env: Environment,
): void {
  output.complain(`Nothing is known of ${key}. To forget it on this machine: ${forgetLine(key, options, env)}`)
}

/** True if nothing at the base URL could have opened a session. The URL may be misspelt, so it is not repeated. */
function isAddressInQuestion({ sessionId, error, hasPossibleOrphan }: UploadResult): boolean {
  return sessionId === null && hasPossibleOrphan !== true && error?.isBaseUrlDoubtful === true
}

/**
 * True if the service does not know the session. Only where its storage does not know it either do a video's files take a new
 * session, upon a resume.
 */
function isUnknownThere({ flow, sessionId, error }: UploadResult, missing: UploadResult['files']): boolean {
  const isUnknown = (why: ErrorSummary | undefined) =>
    isNotFound(why) && (flow === 'capture' || why?.code === 'ERR_UPLOAD_CONFIRM_REFUSED')
  return (
    sessionId !== null && (isUnknown(error) || (missing.length > 0 && missing.every((file) => isUnknown(file.error))))
  )
}

/** True if whoever answered does not know the thing asked for, or no longer does. */
export function isNotFound(error: ErrorSummary | undefined): boolean {
  return error?.status === 404 || error?.status === 410
}

/** True if the service refused what was asked for. Asked once more, it would say the same. */
function isRefusedAtOnce({ status, sessionId, error }: UploadResult): boolean {
  return status === 'failed' && sessionId === null && error?.code === 'ERR_UPLOAD_SERVICE_REFUSED'
}
