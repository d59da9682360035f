// The line after an unfinished upload: what is missing, and the one command that finishes it.

import { resolve } from 'node:path'
import type { ErrorSummary } from '../../core/errors.ts'
import { formatBytes } from '../../core/plan.ts'
import { UNSHOWN } from '../../core/redact.ts'
import { stateFolder } from '../../adapters/node/journal/state-folder.ts'
import type { Environment } from '../options/credentials-from-options.ts'
import { OPTION_DEFAULTS, type SharedOptions } from '../options/options.ts'
import { isNameTaken } from './error-line.ts'
import type { Output } from './output.ts'
import type { KnownSegments } from '../run-analysis.ts'
import type { UploadResult } from '../upload-result.ts'
import { countOf } from './wording.ts'

/** What `analysis request` was given. */
type RequestOptions = SharedOptions &
  Readonly<Partial<Record<keyof KnownSegments | 'name' | 'deadline' | 'pollEvery', string>>>

/** Says on stderr how to finish a session. Prints nothing if it is confirmed or cancelled. */
export function sayHowToGoOn(output: Output, result: UploadResult, options: SharedOptions, env: Environment): void {
  const { status, files, key } = result
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
  if (isUnknownThere(result, missing)) {
    sayUnknown(output, what, result, options, env)
    return
  }
  const taken = missing.filter(({ error }) => error !== undefined && isNameTaken(error)).length
  if (taken === missing.length) {
    const drop = commandLine('cancel --keep-confirmed', key, options, env)
    output.complain(`${what} A resume would be refused as well. To leave it at that: ${drop}`)
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

/**
 * A command that can be pasted into any shell of this user. It repeats where the session is and how the service is reached, even if
 * the environment said so. For a resume, it also repeats how parts are sent, because what was needed once is still needed
 * (`--verify off` for a bucket that encrypts). It never contains credentials.
 */
export function commandLine(
  command: 'resume' | 'cancel' | 'cancel --keep-confirmed',
  key: string,
  options: SharedOptions,
  env: Environment,
): string {
  const { stateDir = stateDirOf(env) } = options
  const isResume = command === 'resume'
  return [
    ...[programOf(env), command, quoted(key)],
    ...wordsOf([['--state-dir', absolute(stateDir)]]),
    ...waysToTheService(options, env),
    ...(isResume ? waysOfSending(options) : []),
  ].join(' ')
}

/** Like `commandLine`, for a command about analyses, such as `watch` and an id. No session is kept of these. */
export function analysisLine(words: readonly (string | number)[], options: SharedOptions, env: Environment): string {
  const said = words.map((word) => quoted(String(word)))
  return [programOf(env), 'analysis', ...said, ...waysToTheService(options, env)].join(' ')
}

/** The command that requests an analysis once more, with the segments that exist. The others are made from what was given. */
export function requestLine(segments: KnownSegments, options: RequestOptions, env: Environment): string {
  const role = (name: keyof KnownSegments): string | undefined => {
    const [id, text] = [segments[name], options[name]]
    if (id !== undefined) return JSON.stringify({ analysis_segment_id: id })
    return text?.startsWith('@') === true ? `@${resolve(text.slice(1))}` : text
  }
  const said = {
    '--name': options.name,
    '--primary': role('primary'),
    '--comparison': role('comparison'),
    '--population': role('population'),
    '--deadline': options.deadline,
    '--poll-every': options.pollEvery,
  }
  const words = Object.entries(said).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]))
  return analysisLine(['request', ...words], options, env)
}

type Values = readonly (readonly [name: string, value: string | undefined])[]

function wordsOf(values: Values): string[] {
  return values.flatMap(([name, value]) => (value === undefined ? [] : [name, quoted(value)]))
}

function waysToTheService(options: SharedOptions, env: Environment): string[] {
  const { apiKeyFile, accessTokenFile, bearerHeader, allowHttp, caFile } = options
  const words = wordsOf([
    ['--base-url', options.baseUrl ?? (env['MOCAP_BASE_URL']?.trim() || undefined)],
    ['--api-key-file', absolute(apiKeyFile)],
    ['--access-token-file', absolute(accessTokenFile)],
    ['--bearer-header', bearerHeader === 'Authentication' ? bearerHeader : undefined],
    ['--ca-file', absolute(caFile)],
  ])
  return allowHttp === true ? [...words, '--allow-http'] : words
}

/** The command that removes a session, whatever the service knows of it. It makes no call, so it needs no base URL. */
export function forgetLine(key: string, { stateDir }: Pick<SharedOptions, 'stateDir'>, env: Environment): string {
  const folder = absolute(stateDir ?? stateDirOf(env))
  return `${programOf(env)} sessions --forget ${quoted(key)}${folder === undefined ? '' : ` --state-dir ${quoted(folder)}`}`
}

/** The program's name as it was called. Whoever runs it by npx has no other name for it. */
function programOf(env: Environment): string {
  return env['npm_lifecycle_event'] === 'npx' ? 'npx mocap-uplink' : 'mocap-uplink'
}

/** The folder in which the environment of this shell keeps sessions. Undefined if any shell would use the same one. */
function stateDirOf(env: Environment): string | undefined {
  const folder = stateFolder(env)
  return folder === stateFolder({ ...env, MOCAP_STATE_DIR: '', XDG_STATE_HOME: '' }) ? undefined : folder
}

function waysOfSending(options: SharedOptions): string[] {
  const unlessDefault = (name: keyof typeof OPTION_DEFAULTS): string | undefined =>
    options[name] === OPTION_DEFAULTS[name] ? undefined : options[name]
  const words = wordsOf([
    ['--verify', unlessDefault('verify')],
    ['--concurrency', unlessDefault('concurrency')],
    ['--limit-rate', options.limitRate],
    ['--retries', options.retries],
    ['--give-up-after', options.giveUpAfter],
    ['--receipt', absolute(options.receipt)],
    ['--files-in', absolute(options.filesIn)],
  ])
  return options.background === true ? [...words, '--background'] : words
}

function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path)
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  // Characters that a line does not show are written as bytes, in the notation of bash and zsh.
  if (word.search(UNSHOWN) >= 0) return `$'${word.replace(/['\\]/g, '\\$&').replace(UNSHOWN, asBytes)}'`
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function asBytes(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
}
