// The line after an unfinished upload: what is missing, and the one command that finishes it.

import type { ErrorSummary } from '../../core/errors.ts'
import { foldJournal } from '../../core/journal/fold-journal.ts'
import type { JournalRecord } from '../../core/journal/journal.ts'
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

/** Why a service does not know a session that it gave an id. */
export const WHY_UNKNOWN =
  'the key or token may be of another organisation than that which began it, or the service may have been restored from a backup, or be another one'

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
  const recorded = isEachNameRefused(missing) ? await recordedNames(result, at) : undefined
  if (isUnknownThere(result, missing) && recorded?.isSessionKnown !== true) {
    sayUnknown(output, what, missing, { result, at })
    return
  }
  if (recorded !== undefined && !(recorded.areOwn && isEachTaken(files))) {
    sayRefused(output, what, result, at)
    return
  }
  const changed = missing.filter((file) => file.error?.code === 'ERR_UPLOAD_SOURCE_CHANGED').length
  const upload =
    changed === 0 ? '' : ` Upload the ${changed === 1 ? 'file' : `${changed} files`} that changed as a new session`
  const isKeyRefused = result.error?.code === 'ERR_UPLOAD_CREDENTIALS_REFUSED'
  const accepted = isKeyRefused ? ', with a key or token that the service accepts' : ''
  // A login page, or a line that broke off, leaves open whether it was the service.
  const doubt = isAddressDoubtful(result) ? ', with another --base-url if this one is wrong' : ''
  const resume = isAddressInQuestion(result)
    ? `, with the right address for URL: ${commandLine('resume', key, { ...options, baseUrl: 'URL' }, env)}`
    : `${accepted}${doubt}: ${commandLine('resume', key, options, env)}`
  const isUnread = missing.some((file) => isOfSource(file.error))
  const moved = isUnread && options.filesIn === undefined ? ' (with --files-in FOLDER where files were moved)' : ''
  const keep = commandLine('cancel --keep-confirmed', key, options, env)
  if (changed > 0 && changed === missing.length) {
    // Otherwise each `resume` of everything fails at it, every night.
    output.complain(`${what}${upload}, and end this one: ${keep}`)
    return
  }
  output.complain(`${what}${changed > 0 ? `${upload}.` : ''} To finish${moved}${resume}`)
  const stored = files.length - missing.length
  if (status !== 'interrupted' || stored === 0) return
  output.complain(`To keep the ${countOf(stored, 'file')} confirmed and give up the rest: ${keep}`)
}

/** Says what is left when the service refused every name that is missing. */
function sayRefused(output: Output, what: string, { key, sessionId, files }: UploadResult, at: SessionAt): void {
  const { options, env } = at
  if (isEachTaken(files)) output.complain(`${what} A resume would be refused as well.`)
  else {
    output.complain(`${what} The service would refuse a resume as well: ${givenAnew(sessionId)}.`)
    output.complain(`If the service is corrected instead: ${commandLine('resume', key, options, env)}`)
  }
  output.complain(`To leave it at that: ${commandLine('cancel --keep-confirmed', key, options, env)}`)
}

interface RecordedNames {
  /** The service has opened the session in this run, or taken names into it. A name that it does not find is then refused for itself. */
  readonly isSessionKnown: boolean
  /**
   * The session has asked for the names itself. If it has them all the same, a line delivered the call twice, and a resume takes them.
   * In a session that was there before they are somebody else's, and the journal says that they were refused.
   */
  readonly areOwn: boolean
}

/** What the journal says of names that were refused. Undefined if it cannot be read. */
async function recordedNames({ key }: UploadResult, { journal }: SessionAt): Promise<RecordedNames | undefined> {
  try {
    const records = await journal.read(key)
    const { params, ledger } = foldJournal(records)
    const ofThisRun = records.slice(records.findLastIndex(({ type }) => type === 'session.resumed') + 1)
    // A session that was given is not opened, though its record says so.
    const isOpened = ({ type }: JournalRecord) => type === 'session.created' && params['sessionId'] === undefined
    return {
      isSessionKnown: ofThisRun.some((record) => record.type === 'files.registered' || isOpened(record)),
      areOwn: ledger.files.some((file) => file.isRegistering),
    }
  } catch {
    return undefined
  }
}

function isEachNameRefused(missing: UploadResult['files']): boolean {
  return missing.length > 0 && missing.every(({ error }) => error !== undefined && isNameRefused(error))
}

function isEachTaken(files: UploadResult['files']): boolean {
  return files.every(({ error }) => error === undefined || isNameTaken(error))
}

/**
 * Says that the service does not know the session. If it says so of each name, it may as well be the names that it does not know:
 * neither its answer nor the journal tells which.
 */
function sayUnknown(
  output: Output,
  what: string,
  missing: UploadResult['files'],
  { result: { key, sessionId }, at: { options, env } }: { readonly result: UploadResult; readonly at: SessionAt },
): void {
  const isOfNames = isEachNameRefused(missing)
  const thing = isOfNames ? 'what these names stand for' : 'the place of its files'
  output.complain(
    `${what} Session ${sessionId}, or ${thing}, is not known there: ${WHY_UNKNOWN}. Nothing that is stored was touched.`,
  )
  if (isOfNames) output.complain(`If it knows the session: ${givenAnew(sessionId)}.`)
  output.complain(`Once it is known: ${commandLine('resume', key, options, env)}`)
  const drop = commandLine('cancel', key, options, env)
  output.complain(`If it never is, upload what is missing as a new session, then: ${drop}`)
}

/** True if a file could not be read, also where it was waited for: the message then ends in that of its last try. */
function isOfSource({ code, message = '' }: Partial<ErrorSummary> = {}): boolean {
  const isWaitedFor =
    code === 'ERR_UPLOAD_RETRIES_EXHAUSTED' && / The last one: ".*" (?:cannot be|is gone) /.test(message)
  return code === 'ERR_UPLOAD_SOURCE_READ' || isWaitedFor
}

/** What to do about names that the service refuses for themselves. */
function givenAnew(sessionId: UploadResult['sessionId']): string {
  return `correct what it names, and give these files again, with --session ${sessionId} into the same session`
}

/** Says on stderr what is left to do with a session whose journal cannot be read. */
export function sayHowToForget(
  output: Output,
  key: string,
  options: Pick<SharedOptions, 'stateDir'>,
  env: Environment,
): void {
  output.complain(`${key} cannot be read here. To forget it on this machine: ${forgetLine(key, options, env)}`)
}

/** True if nothing at the base URL could have opened a session. The URL may be misspelt, so it is not repeated. */
function isAddressInQuestion(result: UploadResult): boolean {
  return isAddressDoubtful(result) && result.hasPossibleOrphan !== true
}

function isAddressDoubtful({ sessionId, error }: UploadResult): boolean {
  return sessionId === null && error?.isBaseUrlDoubtful === true
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
