// The line after an upload that is not done: what is missing, and the one command that finishes it.

import { resolve } from 'node:path'
import { formatBytes } from '../core/plan.ts'
import type { SharedOptions } from './options.ts'
import type { Output } from './output.ts'
import type { UploadResult } from './upload-result.ts'
import { countOf } from './wording.ts'

/** Tells it on stderr; nothing for a session that is confirmed or that the service never opened. */
export function sayHowToGoOn(output: Output, result: UploadResult, options: SharedOptions): void {
  const { status, files, key } = result
  if (status === 'confirmed' || status === 'cancelled') return
  if (files.length === 0) {
    if (status === 'interrupted') output.complain('Interrupted before the session began: run the command again.')
    return
  }
  // Nothing was begun at the service: the error says why, and the same command again is as good.
  if (status === 'failed' && result.sessionId === null) return
  const missing = files.filter((file) => file.status !== 'confirmed')
  const bytes = missing.reduce((sum, file) => sum + file.bytes, 0)
  const what = `Missing: ${missing.length} of ${countOf(files.length, 'file')}, ${formatBytes(bytes)}.`
  const changed = missing.filter((file) => file.error?.code === 'ERR_UPLOAD_SOURCE_CHANGED').length
  const anew = changed === 0 ? '' : ` Upload the ${countOf(changed, 'file')} that changed as a new session.`
  const way = changed === missing.length ? '' : ` To finish: ${commandLine('resume', key, options)}`
  output.complain(what + anew + way)
}

/** A command that can be pasted into a shell: how the service was reached is said again, credentials never are. */
export function commandLine(command: 'resume' | 'cancel', key: string, options: SharedOptions): string {
  const { stateDir, baseUrl, apiKeyFile, accessTokenFile, bearerHeader, allowHttp, caFile } = options
  const path = (text: string | undefined) => (text === undefined ? undefined : resolve(text))
  const values: [string, string | undefined][] = [
    ['--state-dir', path(stateDir)],
    ['--base-url', baseUrl],
    ['--api-key-file', path(apiKeyFile)],
    ['--access-token-file', path(accessTokenFile)],
    ['--bearer-header', bearerHeader === 'Authentication' ? bearerHeader : undefined],
    ['--ca-file', path(caFile)],
  ]
  const words = values.flatMap(([name, value]) => (value === undefined ? [] : [name, quoted(value)]))
  return ['mocap-uplink', command, quoted(key), ...words, ...(allowHttp === true ? ['--allow-http'] : [])].join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
