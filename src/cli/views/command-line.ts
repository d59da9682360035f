// Commands that a person can paste into any shell: they say again what this shell knows, and never hold a credential.

import { resolve } from 'node:path'
import { UNSHOWN } from '../../core/redact.ts'
import { stateFolder } from '../../adapters/node/journal/state-folder.ts'
import type { Environment } from '../options/credentials-from-options.ts'
import { ownDescriptor } from '../options/option-values.ts'
import { OPTION_DEFAULTS, type SharedOptions } from '../options/options.ts'
import { baseUrlOf } from '../options/uplink-from-options.ts'
import type { KnownSegments } from '../run-analysis.ts'

/** What `analysis request` was given. */
type RequestOptions = SharedOptions &
  Readonly<Partial<Record<keyof KnownSegments | 'name' | 'deadline' | 'pollEvery', string>>>

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
  const ofSession = journalLine([...command.split(' '), key], options, env)
  const sending = command === 'resume' ? waysOfSending(options) : []
  return [ofSession, ...waysToTheService(options, env), ...sending].join(' ')
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
    ['--base-url', baseUrlOf(options, env)],
    ['--api-key-file', absolute(apiKeyFile)],
    ['--access-token-file', absolute(accessTokenFile)],
    ['--bearer-header', bearerHeader === 'Authentication' ? bearerHeader : undefined],
    ['--ca-file', absolute(caFile)],
  ])
  return allowHttp === true ? [...words, '--allow-http'] : words
}

/** The command that removes a session, whatever the service knows of it. */
export function forgetLine(key: string, options: Pick<SharedOptions, 'stateDir'>, env: Environment): string {
  return sessionsLine(['--forget', key], options, env)
}

/** The command that writes the receipt of a session to a file, which the person names. */
export function receiptLine(key: string, options: Pick<SharedOptions, 'stateDir'>, env: Environment): string {
  return journalLine(['receipt', 'show', key, '--output', 'FILE'], options, env)
}

/** A command that lists or removes sessions. */
export function sessionsLine(
  words: readonly string[],
  options: Pick<SharedOptions, 'stateDir'>,
  env: Environment,
): string {
  return journalLine(['sessions', ...words], options, env)
}

/** A command about what the journal holds, without what its calls need. */
function journalLine(words: readonly string[], options: Pick<SharedOptions, 'stateDir'>, env: Environment): string {
  const { stateDir = stateDirOf(env) } = options
  const where = wordsOf([['--state-dir', absolute(stateDir)]])
  return [programOf(env), ...words.map(quoted), ...where].join(' ')
}

/** The program's name as it was called. Whoever runs it by npx, or by a script of package.json, may have no other name for it. */
function programOf(env: Environment): string {
  return env['npm_lifecycle_event'] === undefined ? 'mocap-uplink' : 'npx mocap-uplink'
}

/** The folder in which the environment of this shell keeps sessions. Undefined if any shell would use the same one. */
function stateDirOf(env: Environment): string | undefined {
  const folder = stateFolder(env)
  try {
    return folder === stateFolder({ ...env, MOCAP_STATE_DIR: '', XDG_STATE_HOME: '' }) ? undefined : folder
  } catch {
    // Another shell would have none.
    return folder
  }
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
  // What only this process can open, such as `<(pass show key)` of a shell, no other command can name.
  return path === undefined || ownDescriptor(path) !== undefined ? undefined : resolve(path)
}

function quoted(word: string): string {
  // To cmd.exe, single quotes are part of a word. To PowerShell, a comma makes a list. Both take these.
  if (process.platform === 'win32' && !/["$`]/.test(word) && word.search(UNSHOWN) < 0)
    // A backslash before the last quote would take its meaning away.
    return /^[\w+=:./-]+$/.test(word) ? word : `"${word.replace(/\\+$/, '$&$&')}"`
  // Bare, a word that begins with = is the path of a command to zsh.
  if (/^(?!=)[\w@%+=:,./-]+$/.test(word)) return word
  // Characters that a line does not show are written as bytes, in the notation of bash and zsh.
  if (word.search(UNSHOWN) >= 0) return `$'${word.replace(/['\\]/g, '\\$&').replace(UNSHOWN, asBytes)}'`
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function asBytes(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
}
