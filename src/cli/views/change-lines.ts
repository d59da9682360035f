// Prints an upload as a line per change, for logs and pipes. With `--quiet`, only what went wrong is left.

import { performance } from 'node:perf_hooks'
import { formatBytes } from '../../core/plan.ts'
import type { Outage, Upload, UploadState } from '../../flows/upload.ts'
import { troubleNews, troubleOf } from './drive-troubles.ts'
import { reasonOf, tellingOnce } from './error-line.ts'
import type { Watching } from './json-lines.ts'
import { inWords } from './operation-words.ts'
import type { Output } from './output.ts'
import { countOf, formatDuration, formatTime } from './wording.ts'

/** By how much the wall clock may have been set between two reports of one outage. */
const SAME_OUTAGE_MS = 1_000

/** These states are not printed, because the result on the next line reports the end. */
const IS_ENDING: ReadonlySet<UploadState> = new Set([
  'settling',
  'confirmed',
  'partial',
  'failed',
  'cancelled',
  'closed',
])

/** Prints what a person is told on the way. */
export type Voice = Pick<Output, 'mode' | 'say' | 'complain'>

/** Puts a name in front of each line, if several uploads print by turns. */
export function voiceOf(output: Output, name: string | undefined): Voice {
  if (name === undefined) return output
  return {
    mode: output.mode,
    say: (text) => output.say(`${name}: ${text}`),
    complain: (text) => output.complain(`${name}: ${text}`),
  }
}

/** Prints the upload's changes line by line. */
export function tellAsLines(upload: Upload, voice: Voice): Watching {
  // A resumed session has confirmed files already.
  let confirmed = upload.files().filter((file) => file.state === 'confirmed').length
  let failed = 0
  let total: number | undefined
  const reason = tellingOnce(reasonOf)
  const place = () => `${confirmed + failed} of ${(total ??= upload.files().length)}`
  upload.on('state', ({ state }) => {
    if (!IS_ENDING.has(state)) voice.say(state)
  })
  upload.on('file', (file) => {
    if (file.state === 'confirmed') {
      confirmed += 1
      voice.say(`confirmed ${file.name} (${formatBytes(file.bytes)}, ${place()})`)
    }
    if (file.state === 'failed') {
      failed += 1
      voice.say(`failed ${file.name} (${place()}): ${reason(file)}`)
    }
  })
  tellTroubles(upload, voice)
  return { end: () => undefined }
}

/** Prints retries, waits, dying addresses and warnings in words. `nowMs` is monotonic. */
export function tellTroubles(
  upload: Upload,
  { mode, say, complain }: Voice,
  nowMs = (): number => performance.now(),
): void {
  const tellDrive = driveTeller(say, nowMs)
  tellRetries(upload, say, mode === 'terminal', tellDrive)
  upload.on('waiting', outageTeller(say))
  upload.on('session.replaced', ({ newSessionId, filesMoved, filesKept, bytesVoided }) => {
    // Where a confirmation was refused before, its parts are void already, and are sent again all the same.
    const again = bytesVoided === 0 ? '' : `, of which ${formatBytes(bytesVoided)} are sent again`
    const moved = `session ${newSessionId} takes ${countOf(filesMoved, 'file')}${again}`
    say(`session replaced, because its addresses died: ${moved}; ${countOf(filesKept, 'file')} kept`)
  })
  upload.on('shortfall', ({ deadlineMs, neededMs }) =>
    say(
      `shortfall: the addresses die at ${localTime(deadlineMs)}, and at this rate ${formatTime(neededMs)} are needed; ` +
        'files that are then not confirmed start again in a new session',
    ),
  )
  upload.on('warning', ({ message }) => complain(`warning: ${inWords(message)}`))
}

/** Says of each outage, once, who is waited for, why, and until when. */
export function outageTeller(say: (text: string) => void): (outage: Outage) => void {
  const toldSinceMs = new Map<string, number>()
  return (outage) => {
    const { who, host, reason, status, sinceMs } = outage
    // An outage is reported again at every try. A night of such lines would bury everything else.
    if (Math.abs(sinceMs - (toldSinceMs.get(host) ?? -Infinity)) < SAME_OUTAGE_MS) return
    toldSinceMs.set(host, sinceMs)
    const why = reason === undefined ? '' : ` (${reason})`
    const answering = status === 511 ? "behind this network's sign-in page" : 'out of service'
    const what = status === undefined ? 'out of reach' : answering
    say(`waiting: the ${who} ${host} is ${what} since ${localTime(sinceMs)}${why}; ${howLong(outage)}`)
  }
}

function howLong({ untilMs, giveUpAtMs }: Outage): string {
  const next = `it is tried again by itself${untilMs === undefined ? '' : `, next at ${localTime(untilMs)}`}`
  return giveUpAtMs === undefined ? next : `${next}, and given up at ${localTime(giveUpAtMs)}`
}

/** Reasons that are remembered. One that names something else each time could fill the memory in a night. */
const MOST_REASONS = 100

/** Says that a file is waited for, and why. Of all the files that lie on a drive, and of all their tries, only the first has a line. */
function driveTeller(say: (text: string) => void, nowMs: () => number): (name: string, message: string) => void {
  const isNews = troubleNews(nowMs)
  return (name, message) => {
    if (!isNews(troubleOf(message))) return
    say(`waiting for ${name}: ${message} It is tried again by itself for some minutes.`)
  }
}

/**
 * Prints a line for each retry in a log. On a terminal, where the live view counts them, and during an outage, which lasts a night
 * and was told, only a new reason is printed.
 */
function tellRetries(
  upload: Upload,
  say: (text: string) => void,
  isNewsOnly: boolean,
  tellDrive: (name: string, message: string) => void,
): void {
  const told = new Set<string>()
  upload.on('retry', ({ name, partNumber, attempt, delayMs, error }) => {
    if (error.code === 'ERR_UPLOAD_SOURCE_READ') {
      tellDrive(name, error.message)
      return
    }
    const reason = error.message.replace(`part ${partNumber}`, 'a part')
    const isForNews = isNewsOnly || upload.state === 'waiting'
    if (isForNews && told.has(reason)) return
    // Each outage is told anew.
    if (!isForNews || told.size === MOST_REASONS) told.clear()
    told.add(reason)
    say(`retry ${name}, part ${partNumber}, after attempt ${attempt}, in ${formatDuration(delayMs)}: ${error.message}`)
  })
}

function localTime(wallMs: number): string {
  return new Date(wallMs).toLocaleString('sv')
}
