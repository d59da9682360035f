// What the live view shows, as lines of text. Pure, and never wider or higher than it is told.

import { formatBytes } from '../../core/plan.ts'
import type { Outage, UploadFileStatus, UploadProgress, UploadState } from '../../flows/upload.ts'
import { onOneLine } from '../../core/redact.ts'
import { clip, columnsOf, fitColumns } from './text-width.ts'
import { countOf, formatRate, formatTime, percentOf } from './wording.ts'

export interface ProgressPicture {
  readonly state: UploadState
  readonly progress: UploadProgress
  readonly files: readonly UploadFileStatus[]
  readonly columns: number
  readonly rows: number
  /** Attempts that were repeated so far. */
  readonly retries?: number
  /** How long `host` has been out of reach, and when it is tried again, both in ms from now. */
  readonly outage?: Pick<Outage, 'host' | 'reason'> & { readonly forMs: number; readonly nextTryInMs: number }
}

const MIN_COLUMNS_FOR_BAR = 60
const BAR_COLUMNS = 20

/** One line per file in flight, for as many as there is room, and one for the whole. */
export function progressLines(picture: ProgressPicture): string[] {
  // A line that fills the last column wraps on some terminals.
  const columns = Math.max(10, picture.columns - 1)
  const inFlight = picture.files.filter((file) => file.state === 'uploading' || file.state === 'confirming')
  const room = Math.max(0, picture.rows - 3)
  const shown = inFlight.length > room ? inFlight.slice(0, Math.max(0, room - 1)) : inFlight
  const hidden = inFlight.length - shown.length
  const longest = longestOf(picture.files)
  return [
    ...shown.map((file) => fileLine(file, columns, longest)),
    ...(hidden > 0 && room > 0 ? [clip(`  and ${countOf(hidden, 'more file')} in flight`, columns)] : []),
    wholeLine(picture, columns),
  ]
}

/**
 * Columns that the longest name takes, at most. All files count, so that no bar moves as files come and go. A name that is not
 * ASCII counts two for each character, because it takes long to measure thousands of them.
 */
function longestOf(files: readonly UploadFileStatus[]): number {
  const atMost = ({ name }: UploadFileStatus) => (/^[\x20-\x7e]*$/.test(name) ? name.length : 2 * name.length)
  return files.reduce((longest, file) => Math.max(longest, atMost(file)), 0)
}

/** `longest`: columns for the name, if there are as many. On a wide terminal the bar would otherwise be far from it. */
function fileLine(file: UploadFileStatus, columns: number, longest: number): string {
  // A file shows sent bytes and the whole shows stored ones, because a file of one part has nothing confirmed until its end.
  const percent = `${String(percentOf(file.sentBytes, file.bytes)).padStart(3)} %`
  const word = file.state === 'confirming' ? 'confirming' : `of ${formatBytes(file.bytes)}`
  const right = columns >= MIN_COLUMNS_FOR_BAR ? `${bar(file)} ${percent} ${word.padEnd(13)}` : percent
  const nameColumns = columns - columnsOf(right) - 3
  return `  ${fitColumns(onOneLine(file.name), Math.min(nameColumns, longest))} ${right}`.trimEnd()
}

function bar(file: UploadFileStatus): string {
  const filled = file.bytes === 0 ? BAR_COLUMNS : Math.floor((file.sentBytes / file.bytes) * BAR_COLUMNS)
  const full = Math.max(0, Math.min(BAR_COLUMNS, filled))
  return '█'.repeat(full) + '░'.repeat(BAR_COLUMNS - full)
}

function wholeLine({ state, progress, retries = 0, outage }: ProgressPicture, columns: number): string {
  const { confirmedBytes, sentBytes, totalBytes, bytesPerSecond, remainingMs } = progress
  const { filesConfirmed, filesFailed, filesTotal } = progress
  if (filesTotal === 0) return clip(`${state} …`, columns)
  // The most important come first, because what does not fit is left out at the end.
  const waitedFor = state === 'waiting' ? outage : undefined
  const items = [
    ...(state === 'uploading' ? [] : [waitedFor === undefined ? state : waitingWords(waitedFor)]),
    // These bytes are in the storage, and the service has confirmed only the files counted below.
    `${percentOf(confirmedBytes, totalBytes)} % stored`,
    // Once everything is sent, nobody knows how long the answers take.
    ...(remainingMs && state === 'uploading' ? [`${formatTime(remainingMs)} left`] : []),
    ...(bytesPerSecond > 0 && state === 'uploading' ? [steady(formatRate(bytesPerSecond))] : []),
    ...(filesFailed > 0 ? [`${filesFailed} failed`] : []),
    `${filesConfirmed} of ${countOf(filesTotal, 'file')}`,
    // A line above has said so already.
    ...(waitedFor === undefined ? [] : [`${waitedFor.host}: ${waitedFor.reason ?? 'no connection'}`]),
    ...(retries > 0 ? [retries === 1 ? '1 retry' : `${retries} retries`] : []),
    `${sentOf(sentBytes, totalBytes)} sent`,
  ]
  let line = ''
  for (const item of items) {
    const longer = line === '' ? item : `${line} · ${item}`
    if (columnsOf(longer) > columns) break
    line = longer
  }
  return clip(line === '' ? (items[0] ?? '') : line, columns)
}

/** One decimal always, because what is at the end of the line would come and go as the amounts before it get longer and shorter. */
function steady(amount: string): string {
  return amount.replace(/^(\d+) (?=.iB)/, '$1.0 ')
}

/** `38.5 of 67.2 MiB`, `900.0 KiB of 67.2 MiB`. */
function sentOf(sentBytes: number, totalBytes: number): string {
  const [sent, total] = [steady(formatBytes(sentBytes)), formatBytes(totalBytes)]
  const [amount, unit] = sent.split(' ')
  return `${total.endsWith(` ${unit}`) ? amount : sent} of ${total}`
}

function waitingWords({ forMs, nextTryInMs }: NonNullable<ProgressPicture['outage']>): string {
  return `waiting ${formatTime(forMs)}, ${nextTryInMs > 0 ? `next try in ${formatTime(nextTryInMs)}` : 'trying now'}`
}
